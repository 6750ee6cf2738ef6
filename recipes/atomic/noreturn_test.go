package atomic_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	curator "github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/testing/zktest"
)

// Every call of the user's code on the goroutine of a caller does not return in
// turn.
func TestCallThatDoesNotReturnLeavesNothingOfANumber(t *testing.T) {
	locktest.NoReturn(t, func(_ *testing.T, ctx context.Context, c *framework.Client) error {
		_, updated := curator.NewLong(c, "/n").Update(ctx, func(old int64) (int64, error) { return old + 1, nil })
		s := curator.NewSequence(c, "/s")
		_, next := s.Next(ctx)
		_, dense := s.NextDense(ctx)
		if errors.Is(next, framework.ErrOutcomeUnknown) {
			next = nil
		}
		return errors.Join(updated, next, dense)
	})
}

// exits is the user's code. The first call that it is armed for takes a second,
// and then ends its goroutine.
type exits struct{ armed atomic.Value }

func (e *exits) call(what string) {
	if e.armed.CompareAndSwap(what, "") {
		time.Sleep(time.Second)
		runtime.Goexit()
	}
}

func (e *exits) StartOperation(ctx context.Context, op clienttrace.Operation) context.Context {
	e.call(op.Name)
	return ctx
}

// The worker of a number calls hooks, ACL providers and retry policies. One that
// ends the worker's goroutine fails the calls of that round. Calls that wait for
// the next round, and later ones, are carried out.
func TestUsersCodeThatEndsTheWorkerLeavesTheNumberUsable(t *testing.T) {
	for name, row := range map[string]struct {
		exists, isSent bool
		opts           []curator.Option
	}{
		"get":          {exists: true},
		"create":       {},
		"ACL provider": {},
		"retry policy": {exists: true},
		"set":          {exists: true, isSent: true},
		"transaction":  {exists: true, isSent: true, opts: []curator.Option{curator.WithReceipts("/receipts")}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				e := &exits{}
				e.armed.Store("")
				c, _ := w.Connect(t, framework.WithHooks(e),
					framework.WithACLProvider(func(string) []zk.ACL { e.call("ACL provider"); return zk.WorldACL(zk.PermAll) }),
					framework.WithRetry(func() backoff.BackOff { e.call("retry policy"); return backoff.NewConstantBackOff(time.Second) }))
				n := curator.NewLong(c, "/n", row.opts...)
				if row.exists {
					require.NoError(t, n.Store(w.Patience(t), 0))
					settle()
				}
				if name == "retry policy" {
					w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.DropReply()})
				}
				add := func(add int64) <-chan error {
					done := make(chan error, 1)
					go func() { _, err := n.Add(recipetest.Within(t, time.Hour), add); done <- err }()
					synctest.Wait()
					return done
				}
				e.armed.Store(name)
				ended, waiting := add(1), add(10)
				err := <-ended
				require.ErrorContains(t, err, "has ended its goroutine")
				require.Equal(t, row.isSent, errors.Is(err, framework.ErrOutcomeUnknown))
				require.NoError(t, <-waiting)
				require.NoError(t, <-add(100))
				now, err := n.Load(w.Patience(t))
				require.NoError(t, err)
				require.EqualValues(t, 110, now)
			})
		})
	}
}
