package queue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An idle lock is being given up, and has its place still. Whoever comes then gets
// to know of it, and waits until the place is free, which is soon.
//
// Promise: An acquire waits until a cached lock that is being released is gone.
func TestIdleLockThatIsBeingGivenUpIsWaitedFor(t *testing.T) {
	q := newLocalQueue(&queueSet{}, &localKey{})
	w, _, ok := q.add(arrival{})
	require.True(t, ok)
	require.Nil(t, w)
	q.entered(false)
	idle := &turn{queue: q}
	idle.amongIdle.Store(newIdleSet())
	q.idle = idle
	idle.endsAfterLocked(time.Hour)
	require.Nil(t, idle.amongIdle.Load().add(idle))

	require.True(t, q.stopIdle(idle))
	for range 2 {
		w, _, ok = q.add(arrival{})
		require.True(t, ok)
		require.NotNil(t, w)
		require.Same(t, idle, w.idle)
	}
	q.leave(false, idle)
	require.False(t, q.hasIdle())
}
