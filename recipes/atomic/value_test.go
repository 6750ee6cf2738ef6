package atomic_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/codec"
)

type config struct{ Limit int }

func TestValues(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		path := recipetest.Path(t) + "/"
		v := atomic.NewValue(c, path+"config", codec.JSON[config]())
		now, err := v.Load(ctx)
		require.NoError(t, err)
		require.Zero(t, now)
		swapped, err := v.CompareAndSwap(ctx, config{1}, config{2})
		require.NoError(t, err)
		require.False(t, swapped)
		swapped, err = v.CompareAndSwap(ctx, config{}, config{2})
		require.NoError(t, err)
		require.True(t, swapped, "a node that does not exist is the zero value")
		now, err = v.Update(ctx, func(old config) (config, error) { return config{old.Limit * 5}, nil })
		require.NoError(t, err)
		require.Equal(t, config{10}, now)
		require.JSONEq(t, `{"Limit": 10}`, string(w.dataOf(t, path+"config")))

		plain := atomic.NewValue(c, path+"plain", codec.Bytes())
		require.NoError(t, plain.Store(ctx, []byte("a")))
		swapped, err = plain.CompareAndSwap(ctx, []byte("a"), []byte("b"))
		require.NoError(t, err)
		require.True(t, swapped)
		data, err := plain.Load(ctx)
		require.NoError(t, err)
		require.Equal(t, "b", string(data))
		data[0] = 'x'
		data, err = plain.Load(ctx)
		require.NoError(t, err)
		require.Equal(t, "b", string(data), "the caller may do what it likes with the data")
	})
}

func TestValuesThatCannotBeCoded(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		odd := errors.New("odd")
		picky := codec.JSON[int]()
		encode := picky.Encode
		picky.Encode = func(v int) ([]byte, error) {
			if v%2 != 0 {
				return nil, odd
			}
			return encode(v)
		}
		v := atomic.NewValue(c, "/v", picky)
		require.ErrorIs(t, v.Store(ctx, 1), odd)
		_, err := v.CompareAndSwap(ctx, 1, 2)
		require.ErrorIs(t, err, odd)
		_, err = v.CompareAndSwap(ctx, 0, 1)
		require.ErrorIs(t, err, odd)
		_, err = v.Update(ctx, func(int) (int, error) { return 3, nil })
		require.ErrorIs(t, err, odd)
		require.NoError(t, w.Fake.Create("/v", []byte("no number")))
		_, err = v.Load(ctx)
		var bad *codec.DecodeError
		require.ErrorAs(t, err, &bad)
		_, err = v.Update(ctx, func(old int) (int, error) { return old, nil })
		require.ErrorAs(t, err, &bad)
		require.NoError(t, v.Store(ctx, 4))
		now, err := v.Load(ctx)
		require.NoError(t, err)
		require.Equal(t, 4, now)
	})
}
