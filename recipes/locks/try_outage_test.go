package locks_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// tryEach begins n tries of the read lock at /l, one after the other.
func tryEach(t *testing.T, c *framework.Client, n int) (all []*locktest.Pending) {
	for range n {
		all = append(all, tryLater(t.Context(), readerAt(c)))
		synctest.Wait()
	}
	return all
}

// A reader that waits sits an outage out, and so may readers of its client that share
// its node. A try does not: it fails when a try of a client without other readers
// would, whether the reader ahead of it waits or only tries, too.
//
// Promise: A try of a read lock waits no longer for a connection if other readers of its client wait.
func TestTryOfAReadLockDoesNotSitAnOutageOutWithOtherReaders(t *testing.T) {
	const limit = 20 * time.Second // the connection timeout is 15 s
	for name, down := range map[string]func(w *world, c *framework.Client, network *recipetest.Network) (up func()){
		"no connection": func(_ *world, _ *framework.Client, network *recipetest.Network) (up func()) {
			network.Refuse(true)
			network.Cut()
			return func() { network.Refuse(false) }
		},
		"throttled": func(w *world, c *framework.Client, _ *recipetest.Network) (up func()) {
			fault := w.Fake.Inject(zktest.Rule{Op: zktest.OpAny, Session: c.SessionID(), Times: -1, Do: zktest.Fail(zkinside.ErrThrottled)})
			return fault.Remove
		},
	} {
		for _, waits := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					ctx := w.Patience(t)
					c, network := w.Connect(t)
					up := down(w, c, network)
					synctest.Wait()
					var waiting []*locktest.Pending
					if waits {
						waiting = append(waiting, take(ctx, readerAt(c)))
						synctest.Wait()
					}
					early := tryEach(t, c, 3)
					time.Sleep(limit)
					late := tryEach(t, c, 3)
					time.Sleep(limit)
					for _, p := range append(early, late...) {
						require.True(t, p.IsOver(), "it waits for the end of the outage")
						require.True(t, framework.IsConnectionError(p.Err), "%v", p.Err)
					}
					up()
					for _, p := range waiting {
						require.NoError(t, p.Wait(t).Release(ctx))
					}
					w.NothingLeft(t, "/l")
				})
			})
		}
	}
}
