package atomic_test

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/testing/zktest"
)

// The node is deleted while the outcome of a write is in doubt. The receipt
// tells whether the write was applied. If it was not, the receipt is used, so
// that an attempt that is still on its way does no harm.
//
// Promise: With receipts, the outcome of a write is known even if the node was deleted meanwhile.
// Promise: With receipts, an attempt that is still in flight is not applied in addition to its repetition.
func TestReceiptTellsAfterADeletion(t *testing.T) {
	numbered := func(n byte) []byte { return []byte{0, 0, 0, 0, 0, 0, 0, n} }
	for name, test := range map[string]struct {
		write zktest.Action                // that is in doubt
		void  func(w *world) zktest.Action // what happens when the receipt is used
		want  int64
	}{
		"the request is lost": {write: zktest.DropRequest(), want: 1},
		"the reply is lost":   {write: zktest.DropReply(), want: 6},
		"it arrives late": {write: zktest.DropRequest(), want: 6, void: func(w *world) zktest.Action {
			return zktest.Call(func(r zktest.Request) { _ = w.Fake.Set(r.Path, numbered(2)) })
		}},
		"the next request is lost, too": {write: zktest.DropRequest(), want: 1, void: func(*world) zktest.Action { return zktest.DropRequest() }},
		"the next reply is lost, too":   {write: zktest.DropRequest(), want: 1, void: func(*world) zktest.Action { return zktest.DropReply() }},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.Patience(t)
				c, _ := w.Connect(t)
				n := atomic.NewLong(c, "/n", atomic.WithReceipts("/receipts"))
				require.NoError(t, n.Store(ctx, 5))
				session := c.SessionID()
				remove := zktest.CallAfter(func(zktest.Request) { _ = w.Fake.Delete("/n") })
				w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.All(test.write, remove)})
				if test.void != nil {
					w.Fake.Inject(zktest.Rule{Op: zktest.OpSetData, Path: "/receipts/*", Do: test.void(w)})
				}
				now, err := n.Add(ctx, 1)
				require.NoError(t, err)
				require.Equal(t, test.want, now)
				require.Equal(t, session, c.SessionID())
				next, err := n.Add(ctx, 1)
				require.NoError(t, err)
				_, there := w.Fake.Node("/n")
				require.True(t, there)
				if test.want == 6 {
					require.EqualValues(t, 1, next, "it counts in another node")
				} else {
					require.EqualValues(t, 2, next)
				}
				require.Len(t, w.Fake.Children("/receipts"), 1)
			})
		})
	}
}

// An attempt is lost, and the next one is refused. The receipt tells that the
// first one is not applied, and sees to it that it will not be.
func TestReceiptTellsAfterARefusal(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		n := atomic.NewLong(c, "/n", atomic.WithReceipts("/receipts"))
		require.NoError(t, n.Store(ctx, 5))
		w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.DropRequest()})
		w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, After: 1, Do: zktest.Fail(zktest.ErrNoAuth)})
		_, err := n.Add(ctx, 1)
		require.ErrorIs(t, err, zk.ErrNoAuth)
		require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
		now, err := n.Add(ctx, 1)
		require.NoError(t, err)
		require.EqualValues(t, 6, now)
	})
}
