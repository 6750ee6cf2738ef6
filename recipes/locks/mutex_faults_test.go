package locks_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/testing/zktest"
)

// The server could not carry out a deletion. The client tries the deletion
// again until it succeeds.
func TestReleaseOutlastsTheServersTrouble(t *testing.T) {
	for _, code := range []zktest.Code{zkinside.ErrSystem, -7 /* operation timeout */, -122 /* request timeout */, zkinside.ErrThrottled, zkinside.ErrSessionMoved} {
		t.Run(code.Error(), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.Patience(t)
				c, _ := w.Connect(t)
				lease := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, "/l"))
				w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Times: 20, Do: zktest.Fail(code)})
				require.NoError(t, lease.Release(ctx), "the client goes on by itself")
				w.NothingLeft(t, "/l")
			})
		})
	}
}

// An acquire waits for a throttling server as it waits for a server that is
// away.
func TestAcquireOutlastsAThrottlingServer(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t, framework.WithRetry(retry.None()))
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: 50, Do: zktest.Fail(zkinside.ErrThrottled)})
		// The client sends some of these listings along with a creation.
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetChildren, Times: 110, Do: zktest.Fail(zkinside.ErrThrottled)})
		start := time.Now()
		require.NoError(t, locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, "/l")).Release(ctx))
		require.GreaterOrEqual(t, time.Since(start), 10*time.Second, "without a busy loop")
	})
}
