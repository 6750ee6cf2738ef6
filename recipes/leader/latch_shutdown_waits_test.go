package leader_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// Shutdown returns when the latch's node is gone, however long that takes. The
// latch may lead, wait, or be interrupted.
func TestShutdownWaitsForTheNode(t *testing.T) {
	const slow = time.Second
	for _, who := range []string{"leader", "candidate", "interrupted leader"} {
		t.Run(who, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				first, second, lease, network := w.leaderAndNext(t, "/l", framework.WithErrorPolicy(state.StandardPolicy))
				synctest.Wait() // the candidate knows its node
				closed, other := first, second
				switch who {
				case "candidate":
					closed, other = second, first
				case "interrupted leader":
					network.Refuse(true)
					network.Cut()
					w.endOf(t, lease)
					synctest.Wait()
					time.AfterFunc(slow, func() { network.Refuse(false) })
				}
				w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.DelayRequest(slow)})
				start := time.Now()
				require.NoError(t, closed.Shutdown(t.Context()))
				require.Len(t, w.Fake.Children("/l"), 1)
				require.GreaterOrEqual(t, time.Since(start), slow)
				w.await(t, other)
				w.closeAll(t, "/l", other)
			})
		})
	}
}

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

// A leader that was asked to step down, and may not delete its node, logs that.
// The node keeps all others from leading as long as the session lives.
func TestLeaderWhoseNodeStaysSaysSo(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		log := make(lines, 100)
		c, _ := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))))
		l := latch(t, c, "/latch")
		lease := w.await(t, l)
		refusal := w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Times: -1, Do: zktest.Fail(zktest.ErrNoAuth)})
		require.NoError(t, locks.Revoke(t.Context(), w.Observer, lease.Path()))
		for line := range log {
			if strings.Contains(line, "leader's node stays") {
				require.Contains(t, line, lease.Path())
				break
			}
		}
		err := leader.NewSelector(c, "/selector").Run(t.Context(), func(ctx context.Context) error {
			own, _ := locks.LeaseFromContext(ctx)
			require.NoError(t, locks.Revoke(t.Context(), w.Observer, own.Path()))
			<-ctx.Done()
			return nil
		})
		require.ErrorIs(t, err, locks.ErrRevoked)
		require.ErrorIs(t, err, zk.ErrNoAuth)
		refusal.Remove()
	})
}

// lines receives what a logger writes.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// If its context ends, Shutdown returns an error that says that it did not
// wait. The node is deleted all the same, and a later Shutdown returns no
// error.
func TestShutdownWaitsNoLongerThanItsContext(t *testing.T) {
	for _, who := range []string{"leader", "candidate"} {
		for _, patience := range []time.Duration{0, time.Second} {
			t.Run(who+"/"+patience.String(), func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					closed, other, lease, _ := w.leaderAndNext(t, "/l")
					synctest.Wait()
					if who == "candidate" {
						closed, other = other, closed
					}
					w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.DelayRequest(time.Minute)})
					start := time.Now()
					require.ErrorIs(t, closed.Shutdown(recipetest.Within(t, patience)), context.DeadlineExceeded)
					require.Equal(t, patience, time.Since(start))
					if who == "leader" {
						require.ErrorIs(t, w.endOf(t, lease), locks.ErrReleased, "it stops in any case")
					}
					require.Len(t, w.Fake.Children("/l"), 2)
					require.NoError(t, closed.Shutdown(t.Context()))
					w.await(t, other)
					w.closeAll(t, "/l", closed, other)
				})
			})
		}
	}
}

// A server in trouble keeps the node for a while, or there is no connection for
// a while. Shutdown either waits for the deletion, or returns an error that says
// that it did not. A later Shutdown does the same under its own context.
func TestEveryShutdownSaysWhetherTheNodeIsStillThere(t *testing.T) {
	for _, who := range []string{"leader", "candidate"} {
		for _, trouble := range []string{"server in trouble", "no connection"} {
			for _, patience := range []time.Duration{0, time.Second, time.Hour} {
				t.Run(fmt.Sprint(who, "/", trouble, "/", patience), func(t *testing.T) {
					inVirtualTime(t, func(t *testing.T, w *world) { w.shutDownInTrouble(t, who, trouble, patience) })
				})
			}
		}
	}
}

func (w *world) shutDownInTrouble(t *testing.T, who, trouble string, patience time.Duration) {
	c, network := w.Connect(t, framework.WithSessionTimeout(30*time.Second), framework.WithConnectionTimeout(2*time.Second))
	first, second := c, w.Observer
	if who == "candidate" {
		first, second = second, first
	}
	leads := latch(t, first, "/l")
	w.await(t, leads)
	waits := latch(t, second, "/l")
	w.WaitNodes(t, "/l", 2)
	synctest.Wait() // the candidate knows its node
	closed, other := leads, waits
	if who == "candidate" {
		closed, other = waits, leads
	}
	inTrouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Times: -1, Do: zktest.Fail(zktest.ErrSystem)})
	if trouble == "no connection" {
		network.Refuse(true)
		network.Cut()
	}
	begun := time.Now()
	for range 3 {
		require.Error(t, closed.Shutdown(recipetest.Within(t, patience)))
		require.Len(t, w.Fake.Children("/l"), 2)
	}
	require.Less(t, time.Since(begun), 20*time.Second, "the session lives")
	network.Refuse(false)
	inTrouble.Remove()
	require.NoError(t, closed.Shutdown(t.Context()))
	require.Len(t, w.Fake.Children("/l"), 1)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, closed.Shutdown(ended), "nothing is left to wait for")
	w.await(t, other)
	w.closeAll(t, "/l", closed, other)
}

// A leader steps down without a connection, so that its node stays for a while.
// A Shutdown that comes then waits for that node, too.
func TestShutdownWaitsForAnEarlierNode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		first, second, lease, network := w.leaderAndNext(t, "/l", framework.WithSessionTimeout(30*time.Second), framework.WithConnectionTimeout(2*time.Second))
		network.Refuse(true)
		network.Cut()
		require.NoError(t, lease.Release(t.Context()))
		time.Sleep(5 * time.Second) // the latch has given up to wait for the deletion
		require.ErrorIs(t, first.Shutdown(t.Context()), framework.ErrNotConnected)
		require.Len(t, w.Fake.Children("/l"), 2)
		network.Refuse(false)
		require.NoError(t, first.Shutdown(t.Context()))
		require.Len(t, w.Fake.Children("/l"), 1)
		w.await(t, second)
		w.closeAll(t, "/l", first, second)
	})
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

// An application shuts its latch down when the leadership is interrupted.
func TestShutdownAtTheInterruptionOfTheLeadership(t *testing.T) {
	for range 10 { // the order of the goroutines is up to the scheduler
		inVirtualTime(t, func(t *testing.T, w *world) {
			c, network := w.Connect(t, framework.WithErrorPolicy(state.StandardPolicy))
			latch, err := leader.NewLatch(c, "/l")
			require.NoError(t, err)
			lease, err := latch.WaitLeadership(t.Context())
			require.NoError(t, err)
			closed := make(chan error)
			go func() {
				<-lease.Context().Done()
				closed <- latch.Shutdown(recipetest.Within(t, time.Hour))
			}()
			network.Cut()
			require.NoError(t, <-closed)
			w.WaitNodes(t, "/l", 0)
		})
	}
}
