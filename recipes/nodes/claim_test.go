package nodes_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/nodes"
)

// A persistent node that exists is taken over if it is claimed, and is a conflict
// if it is not.
func TestNodeThatIsNotClaimedIsAConflict(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create("/mine", []byte("me, old")))
		require.NoError(t, w.Fake.Create("/theirs", []byte("them")))
		c, _ := w.Connect(t)
		opts := []nodes.Option{
			nodes.WithMode(framework.Persistent),
			nodes.WithClaim(func(data []byte) bool { return string(data[:2]) == "me" }),
		}
		mine := start(t, c, "/mine", "me", opts...)
		w.ready(t, mine)
		require.Equal(t, "me", w.dataOf("/mine"))
		require.NoError(t, mine.Shutdown(w.Patience(t)))

		theirs := start(t, c, "/theirs", "me", opts...)
		_, err := theirs.WaitRegistered(recipetest.Within(t, time.Minute))
		require.ErrorIs(t, err, nodes.ErrConflict)
		require.NoError(t, w.Fake.Set("/theirs", []byte("me at last")))
		w.ready(t, theirs)
		require.NoError(t, theirs.Shutdown(w.Patience(t)))
		require.NotContains(t, w.Fake.Children("/"), "theirs")
	})
}
