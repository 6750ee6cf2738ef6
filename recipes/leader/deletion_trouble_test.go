package leader_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/testing/zktest"
)

// inTrouble is what a server does with requests, and whether an error says so.
var inTrouble = map[string]struct {
	do      zktest.Action
	isNamed func(error) bool
}{
	"throttled": {zktest.Fail(zktest.ErrThrottled), isThrottled},
	"hang-ups":  {zktest.DropRequest(), framework.IsConnectionError},
}

func isThrottled(err error) bool {
	code, ok := framework.ServerCode(err)
	return ok && code == -127
}

// The deletion is made again and again, and not given up yet.
func TestShutdownNamesWhatTheDeletionHasOutlasted(t *testing.T) {
	for name, tc := range inTrouble {
		for _, who := range []string{"leader", "candidate"} {
			t.Run(name+"/"+who, func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					first, second, _, _ := w.leaderAndNext(t, "/l")
					synctest.Wait() // the candidate knows its node
					closed, other := first, second
					if who == "candidate" {
						closed, other = second, first
					}
					trouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Times: -1, Do: tc.do})
					for range 3 {
						err := closed.Shutdown(recipetest.Within(t, time.Second))
						if name == "throttled" { // else there may be no connection then
							require.ErrorIs(t, err, context.DeadlineExceeded)
						}
						require.True(t, tc.isNamed(err), "%v", err)
					}
					trouble.Remove()
					time.Sleep(2 * time.Minute) // the client pauses between deletions
					require.NoError(t, closed.Shutdown(t.Context()))
					w.closeAll(t, "/l", other)
				})
			})
		}
	}
}

// A latch has given the deletion of its node up, and the client has made it in the
// end. The latch waits for the leadership again. A Shutdown that waits for something
// else then does not name that trouble.
func TestShutdownDoesNotNameADeletionThatWasGivenUp(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		first, second, lease, _ := w.leaderAndNext(t, "/l", framework.WithRetry(retry.N(2, time.Second)))
		trouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Times: -1, Do: zktest.Fail(zktest.ErrThrottled)})
		require.NoError(t, lease.Release(t.Context()))
		require.Positive(t, trouble.Hits())
		time.Sleep(time.Minute)
		trouble.Remove()
		w.await(t, second)
		time.Sleep(2 * time.Minute) // the client holds the deletion back

		w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.DelayReply(3 * time.Second)})
		closed := make(chan error, 1)
		go func() { closed <- first.Shutdown(w.Patience(t)) }() // the deletion ends with its context
		synctest.Wait()
		err := first.Shutdown(recipetest.Within(t, time.Second))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.False(t, isThrottled(err), "that is over: %v", err)
		require.NoError(t, <-closed)
		w.closeAll(t, "/l", first, second)
	})
}

// The lease's release deletes the node, and Shutdown waits for that.
func TestShutdownNamesWhatAReleaseHasOutlasted(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		first, second, lease, _ := w.leaderAndNext(t, "/l")
		throttled := inTrouble["throttled"]
		trouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Times: -1, Do: throttled.do})
		released := make(chan error)
		go func() { released <- lease.Release(t.Context()) }()
		w.endOf(t, lease)
		synctest.Wait()
		err := first.Shutdown(recipetest.Within(t, time.Second))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.True(t, throttled.isNamed(err), "%v", err)
		trouble.Remove()
		require.NoError(t, <-released)
		w.closeAll(t, "/l", first, second)
	})
}

// Whoever hands over waits for the deletion that another goroutine makes. Trouble
// that is over is not named.
func TestHandOverNamesWhatTheDeletionHasOutlasted(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		first, second, lease, _ := w.leaderAndNext(t, "/l")
		trouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Times: -1, Do: zktest.Fail(zktest.ErrThrottled)})
		released := make(chan error)
		go func() {
			<-lease.Revoked()
			released <- lease.Release(context.WithoutCancel(t.Context()))
		}()
		err := first.HandOver(recipetest.Within(t, time.Second))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.True(t, isThrottled(err), "%v", err)
		trouble.Remove()
		require.NoError(t, <-released)
		w.await(t, second)
		synctest.Wait() // the other one stands again
		require.NoError(t, second.Resign(t.Context()))
		w.await(t, first)
		synctest.Wait()
		err = first.HandOver(recipetest.Within(t, time.Second))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.False(t, isThrottled(err), "that is over: %v", err)
		w.closeAll(t, "/l", first, second)
	})
}

// A hand-over looks first whether anybody else stands.
func TestHandOverNamesWhatItsLookHasOutlasted(t *testing.T) {
	for name, tc := range inTrouble {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				first, second, lease, _ := w.leaderAndNext(t, "/l")
				synctest.Wait() // the candidate has looked at the queue
				trouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpGetChildren2, Times: -1, Do: tc.do})
				err := first.HandOver(recipetest.Within(t, time.Second))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.True(t, tc.isNamed(err), "%v", err)
				require.ErrorIs(t, w.endOf(t, lease), locks.ErrRevoked)
				trouble.Remove()
				w.closeAll(t, "/l", first, second)
			})
		})
	}
}

// endsWith ends a context when a listing has ended.
type endsWith struct{ end context.CancelFunc }

func (e *endsWith) EndOperation(_ context.Context, of clienttrace.OperationEnd) {
	if of.Name == "children" && e.end != nil {
		e.end()
	}
}

// The look for a successor fails at the moment at which the time of the hand-over is
// up. That has made the leader stop, and the error says both: a caller who finds its
// context's error knows that the leader does not go on.
func TestHandOverWhoseLookFailsWhenItsTimeIsUp(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var tracer endsWith
		first, second, lease, _ := w.leaderAndNext(t, "/l", framework.WithHooks(&tracer))
		synctest.Wait() // the candidate has looked at the queue
		refused := w.Fake.Inject(zktest.Rule{Op: zktest.OpGetChildren2, Do: zktest.Fail(zktest.ErrNoAuth)})
		ctx, cancel := context.WithCancel(t.Context())
		tracer.end = cancel
		err := first.HandOver(ctx)
		require.Equal(t, 1, refused.Hits())
		require.ErrorIs(t, w.endOf(t, lease), locks.ErrRevoked)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, zk.ErrNoAuth)
		w.closeAll(t, "/l", first, second)
	})
}

// A selector's resignation waits until its Run has deleted the node.
func TestResignNamesWhatTheDeletionHasOutlasted(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		s := leader.NewSelector(c, "/s")
		leads, ran := make(chan struct{}), make(chan error)
		go func() {
			ran <- s.Run(t.Context(), func(ctx context.Context) error {
				close(leads)
				<-ctx.Done()
				return nil
			})
		}()
		<-leads
		trouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Times: -1, Do: zktest.Fail(zktest.ErrThrottled)})
		err := s.Resign(recipetest.Within(t, time.Second))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.True(t, isThrottled(err), "%v", err)
		trouble.Remove()
		require.ErrorIs(t, <-ran, locks.ErrRevoked)
	})
}
