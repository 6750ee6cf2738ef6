package locks_test

import (
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
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

// A lock that was lost with its session is not the client's any more. The servers
// may have its node for a while, and the try is refused as long.
func TestTryOfALockThatItsClientHasLost(t *testing.T) {
	for name, tc := range ownTries {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, network := w.Connect(t)
				held := tryToHold(t, tc.hold(c))
				isRefused(t, tc.try(c))
				network.Expire(t)
				<-held.Context().Done()
				require.NoError(t, tryToHold(t, tc.try(c)).Release(t.Context()))
				require.ErrorIs(t, held.Release(t.Context()), framework.ErrSessionLost)
			})
		})
	}
}

// The connection breaks during a release, and servers fail to delete the node for a while.
// The client tries the lock again meanwhile.
//
// Promise: A try is not refused by a node that its client has given up in the same session.
func TestTryIsNotRefusedByANodeThatIsBeingDeleted(t *testing.T) {
	tries := maps.Clone(ownTries)
	type lock = func(c *framework.Client) locks.Locker
	one := func(c *framework.Client) locks.Locker { return locks.NewInterProcessSemaphore(c, "/l", locks.Limit(1)) }
	tries["semaphore"] = struct{ hold, try lock }{one, one}
	for name, tc := range tries {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				held := tryToHold(t, tc.hold(c))
				w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Path: held.Path(), Do: zktest.DropRequest()})
				failing := w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Path: held.Path(), After: 1, Times: -1, Do: zktest.Fail(zkinside.ErrSystem)})
				require.NoError(t, held.Release(t.Context()))
				next := tryToHold(t, tc.try(c))
				time.Sleep(time.Second)
				_, there := w.Fake.Node(held.Path())
				require.True(t, there)
				require.NoError(t, next.Context().Err())
				failing.Remove()
				time.Sleep(10 * time.Second)
				_, there = w.Fake.Node(held.Path())
				require.False(t, there)
				require.NoError(t, next.Release(t.Context()))
				w.NothingLeft(t, "/l")
			})
		})
	}
}

// A client deletes the node of another client's holder, as an operator does, and servers
// fail to delete that node for a while. The holder still has the lock.
//
// Promise: A try is refused by another client's node until the node is deleted.
func TestTryIsRefusedByANodeOfAnotherClientThatIsBeingDeleted(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		rival, _ := w.Connect(t)
		held := tryToHold(t, mutexAt(rival))
		failing := w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Path: held.Path(), Times: -1, Do: zktest.Fail(zkinside.ErrSystem)})
		err := c.Delete(recipetest.Within(t, time.Second), held.Path(), framework.AnyVersion, framework.WithGuarantee())
		require.Error(t, err)
		isRefused(t, mutexAt(c))
		require.NoError(t, held.Context().Err())
		failing.Remove()
		<-held.Context().Done()
		require.NoError(t, tryToHold(t, mutexAt(c)).Release(t.Context()))
	})
}
