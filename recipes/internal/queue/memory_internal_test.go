package queue

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// A later look at the queue behind this one may name the same holder, and not
// have read its node. What was read before stays. No queue is no holder.
func TestQueueBehindKeepsWhatItsHolderSays(t *testing.T) {
	q := &localQueue{}
	read := lockloop.NotAdmitted{Seen: time.Unix(1, 0), Ahead: 1, Holder: "a", HolderData: []byte("who"), HolderSession: 7}
	q.noteBeyond(read)
	later := lockloop.NotAdmitted{Seen: time.Unix(2, 0), Ahead: 3, Holder: "a"}
	q.noteBeyond(later)
	later.HolderData, later.HolderSession = read.HolderData, read.HolderSession
	require.Equal(t, later, q.beyondLocked())
	q.noteBeyond(lockloop.NotAdmitted{})
	require.Zero(t, q.beyondLocked())
}

// One that gives up leaves its trouble to those who wait behind it. If there is
// nobody, the trouble may be over when somebody comes.
func TestTroubleThatKeepsNobodyWaitingIsForgotten(t *testing.T) {
	trouble := errors.New("throttled")
	set := &queueSet{}
	key := &localKey{Key: Key{path: "/m"}}
	q, _, _ := set.arrive(key, arrival{})
	q.entered(false) // it has the lock
	_, _, _ = set.arrive(key, arrival{})
	_, waits, _ := set.arrive(key, arrival{})
	q.noteTrouble(t.Context(), trouble)
	q.entered(false)
	q.leave(false, nil)
	<-waits.turn
	require.Equal(t, trouble, waits.trouble)

	q.noteTrouble(t.Context(), trouble)
	q.entered(false)
	q.leave(false, nil)
	_, _, _ = set.arrive(key, arrival{})
	_, late, _ := set.arrive(key, arrival{})
	q.abandon(t.Context(), late)
	require.NoError(t, late.trouble)
}
