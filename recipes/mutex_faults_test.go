package recipes_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/testing/zktest"
)

// A deletion that the server could not carry out is tried again until it is done.
func TestReleaseOutlastsTheServersTrouble(t *testing.T) {
	for _, code := range []zktest.Code{zktest.ErrSystem, zktest.ErrOperationTimeout, zktest.ErrRequestTimeout, zktest.ErrThrottled, zktest.ErrSessionMoved} {
		t.Run(code.Error(), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.patience(t)
				c, _ := w.connect(t)
				lease := acquire(t, ctx, recipes.NewInterProcessMutex(c, "/l"))
				w.fake.Inject(zktest.Rule{Op: zktest.OpDelete, Times: 20, Do: zktest.Fail(code)})
				require.NoError(t, lease.Release(ctx), "the client goes on by itself")
				w.nothingLeft(t, "/l")
			})
		})
	}
}

// A server without capacity is waited for like one that is away.
func TestAcquireOutlastsAThrottlingServer(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.patience(t)
		c, _ := w.connect(t, framework.WithRetry(retry.None()))
		w.fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: 50, Do: zktest.Fail(zktest.ErrThrottled)})
		w.fake.Inject(zktest.Rule{Op: zktest.OpGetChildren, Times: 110, Do: zktest.Fail(zktest.ErrThrottled)}) // some come with a creation
		start := time.Now()
		require.NoError(t, acquire(t, ctx, recipes.NewInterProcessMutex(c, "/l")).Release(ctx))
		require.GreaterOrEqual(t, time.Since(start), 10*time.Second, "without a busy loop")
	})
}

// Lost requests and replies at every step leave one node per contender, and none in the end.
func TestLostRequestsAndReplies(t *testing.T) {
	for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpGetChildren2, zktest.OpGetData, zktest.OpDelete, zktest.OpSync} {
		for name, fault := range map[string]zktest.Action{"request": zktest.DropRequest, "reply": zktest.DropReply} {
			t.Run(op.String()+" "+name, func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					ctx, path := w.patience(t), "/l"
					c1, _ := w.connect(t)
					c2, _ := w.connect(t)
					holder := acquire(t, ctx, recipes.NewInterProcessMutex(c1, path))

					session := c2.SessionID()
					if op == zktest.OpSync { // only recovery sends one
						w.fake.Inject(zktest.Rule{Op: zktest.OpCreate, Session: session, Do: zktest.DropReply})
					}
					w.fake.Inject(zktest.Rule{Op: op, Session: session, Times: 2, Do: fault})
					waiter := acquireLater(ctx, recipes.NewInterProcessMutex(c2, path))
					<-time.After(5 * time.Second)
					require.Len(t, w.fake.Children(path), 2)
					require.NoError(t, holder.Release(ctx))
					require.NoError(t, waiter.wait(t).Release(ctx))
					w.nothingLeft(t, path)
				})
			})
		}
	}
}

// Whatever happens to three clients, no two contexts are alive at once, tokens grow, and nothing is left.
func TestOneHolderUnderRandomFaults(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := path(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var holders, grants atomic.Int32
		var lastToken atomic.Int64
		done := make(chan struct{})
		knives := make([]*wire, 3)
		for i := range knives {
			var c *framework.Client
			c, knives[i] = w.connect(t)
			m := recipes.NewInterProcessMutex(c, path)
			go func() {
				defer func() { done <- struct{}{} }()
				for ctx.Err() == nil {
					lease, err := m.Acquire(ctx)
					if err != nil {
						continue
					}
					if holders.Add(1) != 1 {
						t.Error("two holders")
					}
					if token := lease.FencingToken(); lastToken.Swap(token) >= token {
						t.Error("token does not grow")
					}
					grants.Add(1)
					select {
					case <-lease.Context().Done():
					case <-time.After(time.Duration(grants.Load()%7) * 700 * time.Millisecond):
					}
					holders.Add(-1)
					lease.Release(ctx)
				}
			}()
		}
		hurt(ctx, t, knives)
		for range knives {
			<-done
		}
		require.Greater(t, grants.Load(), int32(500))
		w.nothingLeft(t, path)
	})
}
