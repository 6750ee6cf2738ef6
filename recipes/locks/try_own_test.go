package locks_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

// ownTries are locks of which one client has one, and tries the other.
var ownTries = map[string]struct {
	hold, try func(c *framework.Client) locks.Locker
}{
	"mutex":          {mutexAt, mutexAt},
	"writer, writer": {writerAt, writerAt},
	"writer, reader": {writerAt, readerAt},
	"reader, writer": {readerAt, writerAt},
}

// A client knows that it has the lock, and asks nobody.
func TestTryOfALockThatItsClientHasMakesNoRequest(t *testing.T) {
	for name, tc := range ownTries {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t, framework.WithServiceName("ours"))
				held := tryToHold(t, tc.hold(c))
				for i := range 3 {
					w.Fake.ClearRequests()
					refused := isRefused(t, tc.try(c))
					require.Empty(t, w.Requests())
					require.Equal(t, held.Path(), "/l/"+refused.Holder)
					require.Equal(t, 1+i, refused.Ahead)
					require.True(t, refused.Own)
					require.Equal(t, "ours", refused.Identity().Service)
					require.Equal(t, time.Now(), refused.Seen)
					take(recipetest.Within(t, time.Hour), writerAtOr(name, tc.hold)(c))
					synctest.Wait()
				}
				require.NoError(t, held.Release(t.Context()))
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

// writerAtOr returns a lock that waits for one that is held.
func writerAtOr(name string, other func(c *framework.Client) locks.Locker) func(c *framework.Client) locks.Locker {
	if name == "mutex" {
		return other
	}
	return writerAt
}
