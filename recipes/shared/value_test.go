package shared_test

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/shared"
)

// Two processes share a number, in Curator's bytes. The first seed wins.
func TestProcessesShareACount(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t) + "/limit"
		c, _ := w.Connect(t)
		other, _ := w.Connect(t)
		one, two := w.count(t, c, path, 7), w.count(t, other, path, 9)
		require.Equal(t, int32(7), get(t, one).Value)
		require.Equal(t, int32(7), get(t, two).Value)
		data, stat, err := w.Observer.Get(w.Patience(t), path)
		require.NoError(t, err)
		require.Equal(t, []byte{0, 0, 0, 7}, data)
		require.Zero(t, stat.EphemeralOwner)
		require.Equal(t, shared.Versioned[int32]{Value: 7, Exists: true, Mzxid: stat.Mzxid, Czxid: stat.Czxid}, get(t, one))

		require.NoError(t, one.Set(w.Patience(t), -2))
		require.Equal(t, int32(-2), get(t, one).Value, "a writer reads what it has written")
		seen := w.await(t, two, -2)
		require.Equal(t, get(t, one), seen)
		require.Equal(t, int32(1), seen.Version)

		now, ok, err := two.TrySet(w.Patience(t), seen, 3)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, int32(3), now.Value)
		require.Equal(t, now, w.await(t, one, 3))
		now, ok, err = one.TrySet(w.Patience(t), seen, 4)
		require.NoError(t, err)
		require.False(t, ok)
		require.Equal(t, get(t, two), now, "it is what is in the way")

		require.NoError(t, one.Close())
		require.NoError(t, two.Close())
		w.NoWatches(t)
		_, there, err := w.Observer.Exists(w.Patience(t), path)
		require.NoError(t, err)
		require.NotNil(t, there, "Close leaves the node")
	})
}

// A node that somebody deletes leaves no value. The seed stands for it until
// somebody re-creates the node, with the same version as before.
func TestDeletedNodeIsAbsentUntilItIsRecreated(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		c, _ := w.Connect(t)
		n := w.count(t, c, path, 7)
		require.NoError(t, n.Set(w.Patience(t), 8))
		old := get(t, n)
		for round := range int32(3) {
			require.NoError(t, w.Observer.Delete(w.Patience(t), path, framework.AnyVersion))
			w.awaitAbsent(t, n)
			require.Equal(t, shared.Versioned[int32]{Value: 7}, get(t, n))
			_, err := w.Observer.Create(w.Patience(t), path, bytesOf(round+10))
			require.NoError(t, err)
			now := w.await(t, n, round+10)
			require.Zero(t, now.Version)
			require.Greater(t, now.Mzxid, old.Mzxid)
		}
		now, ok, err := n.TrySet(w.Patience(t), old, 1)
		require.NoError(t, err)
		require.False(t, ok)
		require.Equal(t, int32(12), now.Value)
	})
}

// A value that is absent can be set, and only the first TrySet that expects no
// node creates it.
func TestAbsentValueIsCreatedOnce(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		c, _ := w.Connect(t)
		n := w.count(t, c, path, 7)
		require.NoError(t, w.Observer.Delete(w.Patience(t), path, framework.AnyVersion))
		w.awaitAbsent(t, n)
		nothing := get(t, n)
		first, ok, err := n.TrySet(w.Patience(t), nothing, 1)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, first, get(t, n))
		now, ok, err := n.TrySet(w.Patience(t), nothing, 2)
		require.NoError(t, err)
		require.False(t, ok)
		require.Equal(t, first, now)

		require.NoError(t, w.Observer.Delete(w.Patience(t), path, framework.AnyVersion))
		require.NoError(t, n.Set(w.Patience(t), 3))
		require.Equal(t, int32(3), w.await(t, n, 3).Value)
		now, ok, err = n.TrySet(w.Patience(t), first, 4)
		require.NoError(t, err)
		require.False(t, ok, "the node of the first is gone")
		require.Equal(t, int32(3), now.Value)
	})
}

// TrySet of a value whose node is gone reports that, also if this Value does
// not know yet.
func TestTrySetFindsNoNode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n := w.count(t, c, "/n", 7)
		previous := get(t, n)
		require.NoError(t, w.Fake.Delete("/n"))
		now, ok, err := n.TrySet(t.Context(), previous, 1)
		require.NoError(t, err)
		require.False(t, ok)
		require.Equal(t, shared.Versioned[int32]{Value: 7}, now)
	})
}

// A write over a node that was re-created, with the same version, is reported.
func TestWriteOverANodeThatWasRecreatedIsReported(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n := w.count(t, c, "/n", 7)
		previous := get(t, n)
		zkinside.Of(w.Fake).PauseSession(c.SessionID())
		require.NoError(t, w.Fake.Delete("/n"))
		require.NoError(t, w.Fake.Create("/n", bytesOf(9)))
		go func() {
			time.Sleep(time.Second)
			zkinside.Of(w.Fake).ResumeSession(c.SessionID())
		}()
		now, ok, err := n.TrySet(t.Context(), previous, 1)
		require.ErrorIs(t, err, shared.ErrNodeReplaced)
		require.True(t, ok)
		require.Equal(t, int32(1), w.onServer(t, "/n"))
		require.Equal(t, int32(1), now.Value)
	})
}

// Servers take version -1 for any version.
func TestVersionThatMeansAnyIsRefused(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n := w.count(t, c, "/n", 7)
		_, ok, err := n.TrySet(t.Context(), shared.Versioned[int32]{Exists: true, Version: -1, Mzxid: 1 << 60}, 1)
		require.False(t, ok)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		require.ErrorContains(t, err, "try set /n: invalid version of the previous value")
		require.Equal(t, int32(7), w.onServer(t, "/n"))
		now, ok, err := n.TrySet(t.Context(), shared.Versioned[int32]{Exists: true, Version: -2, Mzxid: 1 << 60}, 1)
		require.NoError(t, err, "other versions can be negative, and this is not the one")
		require.False(t, ok)
		require.Equal(t, get(t, n), now)
	})
}

// Values have a codec. Data that it cannot decode is an error of that data.
func TestDataThatCannotBeDecodedIsNotFatal(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		var calls atomic.Int32
		text := codec.Codec[int]{
			Encode: func(n int) ([]byte, error) {
				if n < 0 {
					return nil, errors.ErrUnsupported
				}
				return strconv.AppendInt(nil, int64(n), 10), nil
			},
			Decode: func(data []byte) (int, error) { calls.Add(1); return strconv.Atoi(string(data)) },
		}
		v, err := shared.NewValue(c, "/v", text, 5)
		require.NoError(t, err)
		defer v.Close()
		var seen []string
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for now, err := range v.Changes(ctx) {
				if err != nil {
					seen = append(seen, err.Error())
				} else {
					seen = append(seen, strconv.Itoa(now.Value))
				}
			}
		}()
		settle()
		require.NoError(t, w.Fake.Set("/v", []byte("six")))
		settle()
		now, err := v.Get()
		var undecoded *codec.DecodeError
		require.ErrorAs(t, err, &undecoded)
		require.ErrorIs(t, err, strconv.ErrSyntax)
		require.Equal(t, "/v", undecoded.Path)
		require.Equal(t, undecoded.Mzxid, now.Mzxid)
		require.EqualValues(t, 1+2, calls.Load(), "the seed and each state are decoded once")
		_, ok, err := v.TrySet(t.Context(), now, 6)
		require.NoError(t, err)
		require.True(t, ok, "it can be written over")
		settle()
		require.Equal(t, []string{"5", `decode /v: strconv.Atoi: parsing "six": invalid syntax`, "6"}, seen)
		require.ErrorIs(t, v.Set(t.Context(), -1), errors.ErrUnsupported)
		_, _, err = v.TrySet(t.Context(), now, -1)
		require.ErrorIs(t, err, errors.ErrUnsupported)
		_, err = shared.NewValue(c, "/w", text, -1)
		require.ErrorIs(t, err, errors.ErrUnsupported)
		stop()
		<-done

		n := w.count(t, c, "/v", 1)
		_, err = n.Get()
		require.ErrorAs(t, err, &undecoded)
		require.ErrorContains(t, err, "a count has 4 bytes, and this has 1")
	})
}

// Raw bytes are what is in the node. Neither side can change the other's.
func TestRawBytes(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		seed := []byte("seed")
		v, err := shared.NewValue(c, "/v", codec.Bytes(), seed)
		require.NoError(t, err)
		defer v.Close()
		copy(seed, "xxxx")
		require.NoError(t, v.WaitSynced(t.Context()))
		now, err := v.Get()
		require.NoError(t, err)
		require.Equal(t, "seed", string(now.Value))
		data := []byte("data")
		require.NoError(t, v.Set(t.Context(), data))
		copy(data, "xxxx")
		now, err = v.Get()
		require.NoError(t, err)
		require.Equal(t, "data", string(now.Value))
		node, _ := w.Fake.Node("/v")
		require.Equal(t, "data", string(node.Data))
	})
}

// A slow reader misses values in between, and not the last one.
func TestSlowReaderSeesTheLastValue(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n := w.count(t, c, "/n", 0)
		var seen []int32
		for now, err := range n.Changes(t.Context()) {
			require.NoError(t, err)
			seen = append(seen, now.Value)
			if now.Value == 100 {
				break
			}
			for i := range int32(50) {
				require.NoError(t, w.Fake.Set("/n", bytesOf(int32(len(seen)-1)*50+i+1)))
				settle()
			}
		}
		require.Equal(t, []int32{0, 50, 100}, seen)
	})
}

// An argument that cannot be used is an error that says so.
func TestBadArguments(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		_, err := shared.NewCount(nil, "/n", 1)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		_, err = shared.NewCount(c, "n/", 1)
		require.ErrorIs(t, err, zk.ErrInvalidPath)
		_, err = shared.NewValue(c, "/n", codec.Codec[int]{}, 1)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		require.NoError(t, c.Close())
		_, err = shared.NewCount(c, "/n", 1)
		require.ErrorIs(t, err, framework.ErrClosed)
		require.ErrorContains(t, err, "new count /n: ")
		_, err = shared.NewValue(c, "/n", codec.Int32(), 1)
		require.ErrorContains(t, err, "new value /n: ")
	})
}
