package atomic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/testing/zktest"
)

// The reply to a write is lost, and at that moment somebody else writes what
// the write was to leave. That was not us. So it is with two who make 6 out of
// 5, in Curator, and one of them is lost.
//
// Promise: An equal value written by another client is not taken for this client's write.
// Promise: After a lost reply, equal data does not prove that this client's write was applied.
func TestSameDataOfAnotherWriterIsNotOurs(t *testing.T) {
	for name, opts := range waysToCount {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.Patience(t)
				c, _ := w.Connect(t)
				n := atomic.NewLong(c, "/n", opts...)
				require.NoError(t, n.Store(ctx, 5))
				six := []byte{0, 0, 0, 0, 0, 0, 0, 6}
				w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Path: "/n", Do: zktest.All(
					zktest.Call(func(zktest.Request) { _ = w.Fake.Set("/n", six) }), zktest.DropRequest())})
				now, err := n.Add(ctx, 1)
				if name == "plain" {
					require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
					require.Equal(t, six, w.dataOf(t, "/n"))
					return
				}
				require.NoError(t, err)
				require.EqualValues(t, 7, now, "after the 6 of another")
			})
		})
	}
}

// The reply to a write is lost, and other clients have written since. A receipt shows
// that the write was applied, and so the caller gets the first answer.
func TestReceiptTellsAfterWritesOfOthers(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		n := atomic.NewLong(c, "/n", atomic.WithReceipts("/receipts"))
		require.NoError(t, n.Store(ctx, 5))
		w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Path: "/n", Do: zktest.All(
			zktest.CallAfter(func(zktest.Request) {
				_ = w.Fake.Set("/n", []byte{0, 0, 0, 0, 0, 0, 0, 50})
				_ = w.Fake.Set("/n", []byte{0, 0, 0, 0, 0, 0, 0, 60})
			}), zktest.DropReply())})
		now, err := n.Add(ctx, 1)
		require.NoError(t, err)
		require.EqualValues(t, 6, now)
		now, err = n.Load(ctx)
		require.NoError(t, err)
		require.EqualValues(t, 60, now)
		now, err = n.Add(ctx, 1)
		require.NoError(t, err)
		require.EqualValues(t, 61, now)
		require.Len(t, w.Fake.Children("/receipts"), 1)
	})
}

// The first attempt of a write seems to be lost, and is not. It arrives when the
// client repeats it, or asks the receipt. The write is applied once, never twice.
//
// Promise: A write whose reply was lost is applied once, even if its first attempt arrives late.
func TestFirstAttemptThatArrivesLate(t *testing.T) {
	for name, opts := range waysToCount {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.Patience(t)
				c, _ := w.Connect(t)
				n := atomic.NewLong(c, "/n", opts...)
				require.NoError(t, n.Store(ctx, 5))
				six := []byte{0, 0, 0, 0, 0, 0, 0, 6}
				w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Path: "/n", Do: zktest.DropRequest()})
				arrives := zktest.Call(func(zktest.Request) {
					_ = w.Fake.Set("/n", six)
					for _, receipt := range w.Fake.Children("/receipts") {
						second := []byte{0, 0, 0, 0, 0, 0, 0, 2} // the second write that uses the receipt
						_ = w.Fake.Set("/receipts/"+receipt, second)
					}
				})
				w.Fake.Inject(zktest.Rule{Optional: true, Session: c.SessionID(), Op: zktest.OpSetData, Path: "/n", After: 1, Do: arrives})
				w.Fake.Inject(zktest.Rule{Optional: true, Session: c.SessionID(), Op: zktest.OpSetData, Path: "/receipts/*", Do: arrives})
				now, err := n.Add(ctx, 1)
				if name == "plain" {
					require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
				} else {
					require.NoError(t, err)
					require.EqualValues(t, 6, now)
				}
				settle()
				require.Equal(t, six, w.dataOf(t, "/n"))
			})
		})
	}
}
