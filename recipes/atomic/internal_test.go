package atomic

import (
	"math"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/testing/zktest"
)

// The version of a node is a number of 32 bits, which wraps around.
func TestDenseNumbersEnd(t *testing.T) {
	s := &Sequence{}
	require.NoError(t, s.checkDense(&zk.Stat{Czxid: 7, Version: math.MaxInt32}))
	require.ErrorIs(t, s.checkDense(&zk.Stat{Czxid: 7, Version: math.MinInt32}), ErrExhausted)
	require.ErrorIs(t, s.checkDense(&zk.Stat{Czxid: 7, Version: 0}), ErrExhausted)
	require.ErrorIs(t, s.checkDense(&zk.Stat{Czxid: 8, Version: 1}), ErrRestarted)
	require.ErrorIs(t, s.checkDense(&zk.Stat{Czxid: 7, Version: 9}), ErrRestarted)
	require.NoError(t, s.checkDense(&zk.Stat{Czxid: 8, Version: 2}))
}

// A receipt of the last version is not written again: the next versions are
// negative, and one of them stands for any.
func TestReceiptOfTheLastVersion(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, _ := w.Connect(t)
		n := NewLong(c, "/n", WithReceipts("/receipts"))
		require.NoError(t, n.Store(t.Context(), 5))
		used := n.value.node.receipt.path
		n.value.node.receipt.version = math.MaxInt32
		before := w.Fake.CountRequests(zktest.OpMulti)
		require.NoError(t, n.Store(t.Context(), 6))
		require.Equal(t, 1, w.Fake.CountRequests(zktest.OpMulti)-before)
		require.NotEqual(t, used, n.value.node.receipt.path)
		require.Len(t, w.Fake.Children("/receipts"), 1)
	})
}

// A node whose version is -1 cannot be written on condition, until another kind of
// writer has written it. The client reads the node before it says so.
func TestVersionThatStandsForAny(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, _ := w.Connect(t)
		n := NewLong(c, "/n")
		seen := n.value.node.snapshotOf(c.SessionID(), nil, &zk.Stat{Version: -1})
		require.ErrorIs(t, seen.refusal(), ErrNoVersion)
		n.value.node.noteRead(nil, seen)
		require.NoError(t, w.Fake.Create("/n", nil)) // which has another version
		require.NoError(t, n.Store(t.Context(), 5))
	})
}

// A Load keeps what it has read if nothing newer is known: its answer may arrive
// after the one of a request that was sent later.
//
// Promise: A Load that read earlier does not replace newer data.
func TestOnlyAYoungerLoadIsTaken(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, _ := w.Connect(t)
		n := newNode(c, "/n", nil)
		before := n.shared().seen
		read, written := n.snapshotOf(1, nil, &zk.Stat{Version: 1}), n.snapshotOf(1, nil, &zk.Stat{Version: 2})
		n.noteRead(before, read)
		require.Same(t, read, n.shared().seen)
		n.noteWritten(written, n.newCall(t.Context(), nil))
		n.noteRead(before, read)
		require.Same(t, written, n.shared().seen)
	})
}
