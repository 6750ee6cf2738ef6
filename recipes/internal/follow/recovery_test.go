package follow_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// An error that a follower treats as its end ends the follower, even if the follower
// survives such errors elsewhere.
func TestEndsComesBeforeSurvives(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, _ := w.Connect(t)
		always := func(error) bool { return true }
		r := follow.Recovery{Client: c, Ends: always, Survives: always}
		require.ErrorIs(t, r.Wait(t.Context(), zk.ErrNoNode), zk.ErrNoNode)
	})
}

// The wait for a connection is pause enough: a follower whose wait for a connection has
// failed reads as soon as there is a connection.
func TestNoPauseBehindAWaitForAConnection(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, _ := w.Connect(t)
		r := follow.Recovery{Client: c}
		begun := time.Now()
		require.NoError(t, r.Wait(t.Context(), framework.ErrNotConnected))
		require.Zero(t, time.Since(begun))
	})
}

// The pauses grow from error to error, and are short again after a success.
func TestPausesAfterASuccess(t *testing.T) {
	for name, awaited := range map[string]bool{"somebody waits": true, "nobody waits": false} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
				c, _ := w.Connect(t)
				r := follow.Recovery{Client: c, Awaited: awaited}
				pause := func() time.Duration {
					begun := time.Now()
					require.NoError(t, r.Wait(t.Context(), zk.ErrSessionMoved))
					return time.Since(begun)
				}
				first := pause()
				require.Less(t, first, pause())
				r.Recovered()
				require.Equal(t, first, pause())
				require.Less(t, first, pause())
			})
		})
	}
}
