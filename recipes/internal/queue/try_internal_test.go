package queue

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// The context of a claim ends a moment before its place is free. Whoever tries
// then is not refused because of it: its node may be gone.
func TestOneOfUsThatHasNotTheLockAnyMoreRefusesNobody(t *testing.T) {
	const alone, shared = false, true
	held, end := context.WithCancel(t.Context())
	holder := func(name string) *holding {
		return &holding{lockloop.NotAdmitted{Seen: time.Now(), Ahead: 1, Holder: name}, aliveWith{held}, 1}
	}
	q := newLocalQueue(&queueSet{}, &localKey{})
	require.Nil(t, q.heldByOurs(alone))
	q.noteShared(holder("reader"))
	require.Nil(t, q.heldByOurs(shared))
	require.Equal(t, "reader", q.heldByOurs(alone).Holder)
	q.noteAlone(holder("writer"))
	require.Equal(t, "writer", q.heldByOurs(shared).Holder)
	require.Equal(t, "writer", q.heldByOurs(alone).Holder)
	end()
	require.Nil(t, q.heldByOurs(shared))
	require.Nil(t, q.heldByOurs(alone))
}

// aliveWith is a holder as long as a context is alive.
type aliveWith struct{ context.Context }

func (h aliveWith) HasNodes() bool { return h.Err() == nil }
func (h aliveWith) NodeDeleted()   {}

// deletable is a holder until it learns that its node was deleted.
type deletable struct{ gone bool }

func (h *deletable) HasNodes() bool { return !h.gone }
func (h *deletable) NodeDeleted()   { h.gone = true }

// Two of us have got a lock, one after the other. The first has lost it, also if its
// goroutine is the later one to say that it has got the lock.
func TestFirstOfTwoHoldersHasLostTheLock(t *testing.T) {
	for name, latest := range map[string]int{"the second is the latest": 1, "the first is the latest": 0} {
		t.Run(name, func(t *testing.T) {
			both := [...]*deletable{{}, {}}
			q := newLocalQueue(&queueSet{}, &localKey{})
			for _, i := range []int{1 - latest, latest} {
				h := &holding{lockloop.NotAdmitted{Seen: time.Now(), Ahead: 1}, both[i], int64(i + 1)}
				q.endGone(h, q.noteAlone(h), false)
			}
			require.True(t, both[0].gone)
			require.False(t, both[1].gone)
		})
	}
}
