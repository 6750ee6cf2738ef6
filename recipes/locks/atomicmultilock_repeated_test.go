package locks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// A transaction whose reply was lost may have been applied twice, and the second
// time after the first look at the queues. Whoever takes a lock then on the event
// of a release, without another look, leaves that node behind.
func TestAtomicMultiLockWhoseTransactionWasTriedAgainLooksInEachQueue(t *testing.T) {
	for _, behind := range pathsBelow("/l", 2) {
		t.Run(behind, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, paths := w.Patience(t), pathsBelow("/l", 2)
				c, _ := w.Connect(t)
				l := locks.NewAtomicMultiLock(c, paths)
				require.NoError(t, locktest.Acquire(t, ctx, l).Release(ctx))
				held := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(w.Observer, behind))
				lost := w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Session: c.SessionID(), Do: zktest.DropReply()})
				waiting := locktest.AcquireLater(ctx, l)
				time.Sleep(10 * time.Second) // it has found its nodes, and waits
				require.Equal(t, 1, lost.Hits())
				ours := ownNode(t, w, c, behind)
				id := ours[:strings.LastIndex(ours, "lock-")+len("lock-")]
				require.NoError(t, w.Fake.Create(id+"0000000099", nil))
				require.NoError(t, held.Release(ctx))
				require.NoError(t, waiting.Wait(t).Release(ctx))
				time.Sleep(time.Minute)
				for _, p := range paths {
					w.NothingLeft(t, p)
				}
			})
		})
	}
}
