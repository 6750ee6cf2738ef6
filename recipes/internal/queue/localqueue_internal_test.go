package queue

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A goroutine gives up in the moment in which it gets its turn. It will make no
// node, and the one behind it may.
//
// Promise: A waiter that gives up at the moment of its turn lets the next one enter.
func TestWaiterThatGivesUpInTheMomentOfItsTurnLetsTheNextEnter(t *testing.T) {
	q := newLocalQueue(&queueSet{}, &localKey{})
	wait := func() *localWaiter {
		w, _, ok := q.add(arrival{})
		require.True(t, ok)
		return w
	}
	for range q.key.places() {
		require.Nil(t, wait())
		q.entered(false)
	}
	first, second := wait(), wait()
	q.leave(false, nil)
	require.True(t, hasTurn(first))
	require.False(t, hasTurn(second))
	require.Equal(t, 1, q.abandon(t.Context(), first))
	require.True(t, hasTurn(second))
}

func hasTurn(w *localWaiter) bool {
	select {
	case <-w.turn:
		return true
	default:
		return false
	}
}
