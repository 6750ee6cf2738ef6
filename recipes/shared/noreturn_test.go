package shared_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/shared"
)

// Every call of the user's code on the goroutine of a caller does not return in
// turn.
func TestCallThatDoesNotReturnLeavesNothingOfAValue(t *testing.T) {
	locktest.NoReturn(t, func(_ *testing.T, ctx context.Context, c *framework.Client) error {
		v, err := shared.NewCount(c, "/v", 1)
		if err != nil {
			return err
		}
		defer v.Close()
		err = v.Set(ctx, 2)
		now, refreshed := v.Refresh(ctx)
		_, _, tried := v.TrySet(ctx, now, 3)
		_, updated := v.Update(ctx, func(old int32) (int32, error) { return old + 1, nil })
		return errors.Join(err, refreshed, tried, updated)
	})
}

// The codec panics once. The value can be read after that.
func TestCodecThatPanicsIsCalledAgain(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		panics, number := false, codec.Int32()
		decode := number.Decode
		number.Decode = func(data []byte) (int32, error) {
			if panics {
				panic("no value")
			}
			return decode(data)
		}
		v, err := shared.NewValue(w.Observer, "/v", number, 7)
		require.NoError(t, err)
		defer v.Close()
		require.NoError(t, v.WaitSynced(t.Context()))
		panics = true
		require.Panics(t, func() { v.Get() })
		panics = false
		now, err := v.Get()
		require.NoError(t, err)
		require.Equal(t, int32(7), now.Value)
	})
}
