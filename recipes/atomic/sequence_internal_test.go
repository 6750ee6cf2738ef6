package atomic

import (
	"math"
	"testing"
	"time"

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
		used := n.cell.receipt.path
		n.cell.receipt.version = math.MaxInt32
		before := w.Fake.CountRequests(zktest.OpMulti)
		require.NoError(t, n.Store(t.Context(), 6))
		require.Equal(t, 1, w.Fake.CountRequests(zktest.OpMulti)-before)
		require.NotEqual(t, used, n.cell.receipt.path)
		require.Len(t, w.Fake.Children("/receipts"), 1)
	})
}

// A node whose version is -1 cannot be written on condition.
func TestVersionThatStandsForAny(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, _ := w.Connect(t)
		waiting := func() *call { return &call{done: make(chan struct{})} }
		r := &round{cell: &cell{client: c}, calls: []*call{waiting(), waiting()}}
		r.seen = snapshotOf(time.Now(), c.SessionID(), nil, &zk.Stat{Version: -1})
		reader, writer := r.calls[0], r.calls[1]
		reader.change = func(data []byte) step { return step{data: data} }
		writer.change = func(data []byte) step { return step{data: data, writes: true} }
		require.NoError(t, r.try())
		require.True(t, writer.over)
		require.ErrorIs(t, writer.result.err, ErrNoVersion)
		require.False(t, reader.over)
		require.Equal(t, []*call{reader}, r.waiting)
	})
}
