package leader_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// The leader steps down when Shutdown comes, and its node is being deleted.
// Shutdown waits for that, too.
//
// Promise: Shutdown waits for a node whose deletion has already begun.
func TestShutdownWaitsForANodeThatIsBeingDeleted(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *world, *locks.Lease){
		"released": func(t *testing.T, _ *world, lease *locks.Lease) { go lease.Release(t.Context()) },
		"revoked": func(t *testing.T, w *world, lease *locks.Lease) {
			require.NoError(t, locks.Revoke(t.Context(), w.Observer, lease.Path()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				first, second, lease, _ := w.leaderAndNext(t, "/l")
				w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.DelayRequest(time.Second)})
				end(t, w, lease)
				w.endOf(t, lease)
				synctest.Wait()
				require.NoError(t, first.Shutdown(t.Context()))
				require.Len(t, w.Fake.Children("/l"), 1)
				w.await(t, second)
				w.closeAll(t, "/l", second)
			})
		})
	}
}

// The server refuses to delete the node. So the node stays as long as the
// session, and every Shutdown returns an error that says so.
func TestShutdownSaysThatTheServerRefusesTheDeletion(t *testing.T) {
	for _, who := range []string{"leader", "candidate"} {
		t.Run(who, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				first, second, lease, _ := w.leaderAndNext(t, "/l")
				synctest.Wait() // the candidate knows its node
				l := map[string]*leader.Latch{"leader": first, "candidate": second}[who]
				refusal := w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Times: -1, Do: zktest.Fail(zktest.ErrNoAuth)})
				for range 3 {
					err := l.Shutdown(t.Context())
					require.ErrorIs(t, err, zk.ErrNoAuth)
					require.ErrorContains(t, err, "shutdown /l: ")
				}
				require.ErrorIs(t, l.Err(), leader.ErrClosed)
				require.Equal(t, who == "leader", lease.Context().Err() != nil)
				require.Len(t, w.Fake.Children("/l"), 2)
				refusal.Remove()
			})
		})
	}
}

// Cancelling one context stops the program. The program shuts its latch down
// with that context, and then closes the client. This loses nothing.
func TestShutdownOnAnEndedContextEndsTheLeadershipBeforeItReturns(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var log strings.Builder
		c, _ := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		latch, err := leader.NewLatch(c, "/leader")
		require.NoError(t, err)
		lease, err := latch.WaitLeadership(t.Context())
		require.NoError(t, err)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_ = latch.Shutdown(ended)
		still := lease.Context().Err() == nil
		c.Close()
		require.False(t, still, "Shutdown has returned, and the leadership goes on; %v", context.Cause(lease.Context()))
		require.NotContains(t, log.String(), "lock lost", "an orderly shutdown is no loss")
	})
}
