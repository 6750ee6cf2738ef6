//go:build real

package interop_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/shared"
)

// awaitShared waits until one of our Values has a value.
func awaitShared[T any](t *testing.T, v *shared.Value[T], want T) shared.Versioned[T] {
	t.Helper()
	for now, err := range v.Changes(withDeadline(t)) {
		require.NoError(t, err)
		if now.Exists && assert.ObjectsAreEqual(want, now.Value) {
			return now
		}
	}
	t.Fatalf("the value never was %v", want)
	panic("unreachable")
}

// The language that comes first writes the seed. Each language sees what
// the other sets, and TrySet of either fails when the other has been faster.
func TestLanguagesShareACount(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		path := lockPath(t)
		java, client := startPeer(t, srv.addr, longSession), srv.connect(t, longSession)
		ours, err := shared.NewCount(client, path, 5)
		require.NoError(t, err)
		defer ours.Close()
		require.NoError(t, ours.WaitSynced(withDeadline(t)))
		require.Equal(t, []string{"5"}, java.must(t, "count", path))

		old, err := ours.Get()
		require.NoError(t, err)
		java.must(t, "count-set", path, -7)
		now := awaitShared(t, ours, -7)
		_, ok, err := ours.TrySet(withDeadline(t), old, 6)
		require.NoError(t, err)
		require.False(t, ok)
		_, ok, err = ours.TrySet(withDeadline(t), now, 8)
		require.NoError(t, err)
		require.True(t, ok)
		java.must(t, "count-await", path, 8, waitLimitMs)
		_, err = java.ask(withDeadline(t), "count-set", path, 9, -7)
		require.ErrorContains(t, err, "it is 8")
		java.must(t, "count-set", path, 9, 8)
		awaitShared(t, ours, 9)
		require.NoError(t, ours.Set(withDeadline(t), 10))
		java.must(t, "count-await", path, 10, waitLimitMs)

		require.NoError(t, srv.observer.Delete(withDeadline(t), path, framework.AnyVersion))
		for now, err := range ours.Changes(withDeadline(t)) {
			require.NoError(t, err)
			if !now.Exists {
				require.Equal(t, int32(5), now.Value)
				break
			}
		}
		other := startPeer(t, srv.addr, longSession)
		require.Equal(t, []string{"0"}, other.must(t, "count", path), "it makes the node anew, with its own seed")
		awaitShared(t, ours, 0)
	})
}

func TestLanguagesShareAValue(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		path := lockPath(t)
		java, client := startPeer(t, srv.addr, longSession), srv.connect(t, longSession)
		require.Equal(t, []string{"seed"}, java.must(t, "value", path))
		ours, err := shared.NewValue(client, path, codec.Bytes(), []byte("other"))
		require.NoError(t, err)
		defer ours.Close()
		old := awaitShared(t, ours, []byte("seed"))

		require.NoError(t, ours.Set(withDeadline(t), []byte("one")))
		java.must(t, "value-await", path, "one", waitLimitMs)
		java.must(t, "value-set", path, "two", "one")
		now := awaitShared(t, ours, []byte("two"))
		_, ok, err := ours.TrySet(withDeadline(t), old, []byte("late"))
		require.NoError(t, err)
		require.False(t, ok)
		_, ok, err = ours.TrySet(withDeadline(t), now, []byte("three"))
		require.NoError(t, err)
		require.True(t, ok)
		java.must(t, "value-await", path, "three", waitLimitMs)
		_, err = java.ask(withDeadline(t), "value-set", path, "four", "two")
		require.ErrorContains(t, err, "it is three")
		java.must(t, "value-set", path, "five")
		awaitShared(t, ours, []byte("five"))
	})
}
