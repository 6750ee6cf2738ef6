package follow_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/internal/follow"
)

var errOther = errors.New("other")

func TestSlotsCallEach(t *testing.T) {
	var called [100]atomic.Int32
	require.NoError(t, make(follow.Slots, 7).Each(len(called), func(i int) error { called[i].Add(1); return nil }))
	for i := range called {
		require.EqualValues(t, 1, called[i].Load())
	}
	require.NoError(t, make(follow.Slots, 1).Each(0, nil))
}

// As many calls as there are slots are under way, of all who share them.
func TestSlotsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots, now := make(follow.Slots, 3), atomic.Int32{}
		done := make(chan error, 2)
		for range cap(done) {
			go func() {
				done <- slots.Each(30, func(int) error {
					now.Add(1)
					defer now.Add(-1)
					time.Sleep(time.Second)
					return nil
				})
			}()
		}
		begun := time.Now()
		synctest.Wait()
		require.EqualValues(t, cap(slots), now.Load())
		for range cap(done) {
			require.NoError(t, <-done)
		}
		require.Equal(t, 20*time.Second, time.Since(begun))
	})
}

// A call that fails is the last one that begins.
func TestSlotsAfterACallThatFails(t *testing.T) {
	calls := 0
	err := make(follow.Slots, 1).Each(10, func(i int) error {
		if calls++; i == 4 {
			return errOther
		}
		return nil
	})
	require.ErrorIs(t, err, errOther)
	require.Equal(t, 5, calls)
}
