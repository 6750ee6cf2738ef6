package nodes_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/nodes"
)

// The machine sleeps for longer than the time to live, and the session survives. A
// reader before the next touch learns that the node may be gone. The touch finds the
// node, and every reader learns of that.
func TestTTLNodeAfterASleepThatTheSessionSurvives(t *testing.T) {
	for _, readers := range []int{0, 1} { // who begin while the node may be gone
		inVirtualTime(t, func(t *testing.T, w *world) {
			host := w.Fake.NewHost()
			c, _ := w.Connect(t, framework.WithDialer(host.Dialer()), insider.WithSuspendClock(zkinside.Suspended(host)).(framework.Option),
				framework.WithSessionTimeout(time.Minute))
			n, before := startFollowed(t, c, "/a", "data", nodes.WithTTL(5*time.Second))
			first := w.ready(t, n)
			session := c.SessionID()
			settle()

			require.NoError(t, host.Suspend(10*time.Second))
			_, there := n.Registration()
			require.False(t, there, "at once")
			var after []func() []nodes.Change
			for range readers {
				after = append(after, follow(t, n))
			}
			again, err := n.WaitRegistered(recipetest.Within(t, time.Minute))
			require.NoError(t, err)
			time.Sleep(time.Minute)
			synctest.Wait()
			require.Equal(t, first.Czxid, again.Czxid)
			require.Equal(t, session, c.SessionID())
			require.Equal(t, []nodes.State{nodes.Registered, nodes.Lost, nodes.Registered}, states(before()))
			require.ErrorIs(t, before()[1].Err, nodes.ErrNotTouched)
			for _, seen := range after {
				require.Equal(t, []nodes.State{nodes.Registered}, states(seen()))
			}
		})
	}
}
