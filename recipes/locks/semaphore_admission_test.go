package locks

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/queue"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// The gate is the queue in front of the leases: its holder takes them, and the
// others wait. The context of the gate's holder ends a moment after the session.
// If the process stands still in between, the semaphore takes one lease in the
// old session and one in the next. The two leases must not become a claim,
// because the first can vanish at any moment. In this test the gate belongs to
// another client, so that the case is certain to occur.
func TestLeasesOfTwoSessionsAreNoClaim(t *testing.T) {
	for name, policy := range map[string]state.ErrorPolicy{"standard": state.StandardPolicy, "session": state.SessionPolicy} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := zktest.Start(t)
				c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()), framework.WithErrorPolicy(policy))
				require.NoError(t, err)
				defer c.Close()
				require.NoError(t, c.WaitConnected(t.Context()))
				other, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
				require.NoError(t, err)
				defer other.Close()

				require.NoError(t, srv.Create("/s", nil))
				require.NoError(t, srv.Create("/s/leases", nil))
				var first string
				srv.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/s/leases/*", After: 1, Do: zktest.Call(func(r zktest.Request) {
					first = "/s/leases/" + srv.Children("/s/leases")[0]
					srv.Session(r.Session).Expire()
					// The node stands for one of a session that the server has
					// not ended yet.
					require.NoError(t, srv.Create(first, nil))
				})})
				s := NewInterProcessSemaphore(c, "/s", Limit(3))
				hour, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				gate, err := NewInterProcessMutex(other, "/gate").Acquire(hour)
				require.NoError(t, err)
				taken, err := s.take(hour, gate.inner(), 2, queue.Attempt{Wait: true})
				require.NoError(t, err)
				require.NotEmpty(t, first, "it has come to what this is about")
				require.Nil(t, taken)
				synctest.Wait()
				require.Empty(t, srv.Children("/s/leases"), "what was taken is given back")

				// The caller does the same, behind another gate.
				taken, err = s.take(hour, gate.inner(), 2, queue.Attempt{Wait: true})
				require.NoError(t, err)
				require.Len(t, srv.Session(c.SessionID()).Ephemerals(), 2)
				require.NoError(t, taken.First(hour).Release(hour))
			})
		})
	}
}
