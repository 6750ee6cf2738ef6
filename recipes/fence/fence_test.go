package fence_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/fence"
)

func TestOnlyTheNewestTokenIsAdmitted(t *testing.T) {
	var g fence.Guard
	done := 0
	put := func() error { done++; return nil }
	require.NoError(t, g.Do(7, put))
	require.NoError(t, g.Do(7, put), "a holder may send several requests")
	require.NoError(t, g.Do(9, put))
	err := g.Do(8, put)
	require.ErrorIs(t, err, fence.ErrStale)
	require.EqualError(t, err, "stale fencing token: 8, after 9")
	require.Equal(t, 3, done)

	broken := errors.New("broken")
	require.ErrorIs(t, g.Do(10, func() error { return broken }), broken)
	require.EqualValues(t, 10, g.Newest(), "the token counts even if the request failed")
	require.ErrorIs(t, fence.NewGuard(11).Do(10, put), fence.ErrStale)
}

// A nil function is an error, and no request: its token does not count.
func TestNilFunctionIsAnError(t *testing.T) {
	var g fence.Guard
	require.NotPanics(t, func() { require.ErrorContains(t, g.Do(7, nil), "must not be nil") })
	require.Zero(t, g.Newest())
}

// No older request is still at work when a newer one begins.
func TestRequestsDoNotOverlap(t *testing.T) {
	var g fence.Guard
	var all sync.WaitGroup
	var inside sync.Mutex
	var last int64
	for token := range int64(100) {
		all.Go(func() {
			g.Do(token, func() error {
				if !inside.TryLock() {
					t.Error("two at once")
					return nil
				}
				defer inside.Unlock()
				if token < last {
					t.Error("an older one after a newer one")
				}
				last = token
				return nil
			})
		})
	}
	all.Wait()
}
