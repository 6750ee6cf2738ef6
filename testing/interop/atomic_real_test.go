//go:build real

package interop_test

import (
	"context"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/codec"
)

// Each language reads what the other has written, and swaps it.
func TestLanguagesShareNumbersAndValues(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		ctx := withDeadline(t)
		java, c := startPeer(t, srv.addr, longSession), srv.connect(t, longSession)
		path := lockPath(t)
		ours := map[string]counter{
			"long": atomic.NewLong(c, path+"/long"), "int": intCounter{atomic.NewInt(c, path+"/int")},
		}
		for kind, n := range ours {
			path := path + "/" + kind
			require.Equal(t, []string{"0"}, java.must(t, "atomic-get", kind, path), "none is zero")
			_, err := n.Add(ctx, -7)
			require.NoError(t, err)
			require.Equal(t, []string{"-7"}, java.must(t, "atomic-get", kind, path))
			java.must(t, "atomic-set", kind, path, math.MaxInt32)
			now, err := n.Load(ctx)
			require.NoError(t, err)
			require.EqualValues(t, math.MaxInt32, now)
			require.Equal(t, []string{"false"}, java.must(t, "atomic-swap", kind, path, -7, 1))
			require.NoError(t, n.Store(ctx, 5))
			require.Equal(t, []string{"true"}, java.must(t, "atomic-swap", kind, path, 5, 6))
			swapped, err := n.CompareAndSwap(ctx, 6, 7)
			require.NoError(t, err)
			require.True(t, swapped)
		}
		v := atomic.NewValue(c, path+"/value", codec.Bytes())
		require.NoError(t, v.Store(ctx, []byte("go")))
		require.Equal(t, []string{"go"}, java.must(t, "atomic-get", "value", path+"/value"))
		require.Equal(t, []string{"true"}, java.must(t, "atomic-swap", "value", path+"/value", "go", "java"))
		now, err := v.Load(ctx)
		require.NoError(t, err)
		require.Equal(t, "java", string(now))
	})
}

// counter is what a Long and an Int have in common.
type counter interface {
	Load(context.Context) (int64, error)
	Store(context.Context, int64) error
	Add(context.Context, int64) (int64, error)
	CompareAndSwap(ctx context.Context, old, now int64) (bool, error)
}

// intCounter is an Int as a counter.
type intCounter struct{ n *atomic.Int }

func (c intCounter) Load(ctx context.Context) (int64, error) {
	now, err := c.n.Load(ctx)
	return int64(now), err
}

func (c intCounter) Store(ctx context.Context, v int64) error { return c.n.Store(ctx, int32(v)) }

func (c intCounter) Add(ctx context.Context, delta int64) (int64, error) {
	now, err := c.n.Add(ctx, int32(delta))
	return int64(now), err
}

func (c intCounter) CompareAndSwap(ctx context.Context, old, now int64) (bool, error) {
	return c.n.CompareAndSwap(ctx, int32(old), int32(now))
}

// Both languages increment a number, one of Java's peers under a lock if it is beaten,
// and the increments add up: 10,000 in a full run.
func TestIncrementsOfBothLanguagesAddUp(t *testing.T) {
	javaCurator.get(t)
	t.Parallel()
	srv := newRealServer(t)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*waitLimit)
	defer cancel()
	path := lockPath(t)
	const writers = 2 // of each of the four
	each := thorough.Size(500, 125)
	var all sync.WaitGroup
	for i, opts := range [][]atomic.Option{{atomic.WithReceipts(path + "-receipts")}, nil} {
		n := atomic.NewLong(srv.connect(t, longSession), path, opts...)
		for range writers {
			all.Go(func() { addOften(ctx, t, n, each) })
		}
		java := startPeer(t, srv.addr, longSession)
		command := []any{"atomic-count", "long", path, writers, each}
		if i > 0 {
			command = append(command, path+"-lock")
		}
		all.Go(func() {
			if _, err := java.ask(ctx, command...); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	now, err := atomic.NewLong(srv.observer, path).Load(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 4*writers*each, now)
	srv.requireNothingLeft(t, path+"-lock")
}

func addOften(ctx context.Context, t testing.TB, n *atomic.Long, times int) {
	for range times {
		if _, err := n.Add(ctx, 1); err != nil {
			t.Errorf("an Add has failed: %v", err)
			return
		}
	}
}
