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
