package queue

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An idle turn is being given up, and has its place still. Another reader, with a
// node of its own, leaves. Who comes waits for the idle turn.
//
// Promise: An idle shared node keeps its place until its release has ended.
func TestIdleTurnStaysUntilItHasFreedItsOwnPlace(t *testing.T) {
	q := newLocalQueue(&queueSet{}, &localKey{node: cachedNode{readers: true}})
	for range 3 {
		_, _, ok := q.add(arrival{shared: true})
		require.True(t, ok)
		q.entered(true)
	}
	ending := &turn{queue: q, ending: true}
	q.idle = ending
	q.leave(true, &turn{queue: q})
	w, _, _ := q.add(arrival{})
	require.Same(t, ending, w.idle)
	q.leave(true, ending)
	w, _, ok := q.add(arrival{})
	require.True(t, ok)
	require.Nil(t, w, "there is a place")
}
