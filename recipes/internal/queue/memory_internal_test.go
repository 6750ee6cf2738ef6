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
	q, _, _ := set.arrive(key, false)
	q.entered(false) // it has the lock
	_, _, _ = set.arrive(key, false)
	_, waits, _ := set.arrive(key, false)
	q.noteTrouble(t.Context(), trouble)
	q.entered(false)
	q.leave(false)
	<-waits.turn
	require.Equal(t, trouble, waits.trouble)

	q.noteTrouble(t.Context(), trouble)
	q.entered(false)
	q.leave(false)
	_, _, _ = set.arrive(key, false)
	_, late, _ := set.arrive(key, false)
	q.abandon(t.Context(), late)
	require.NoError(t, late.trouble)
}

// Looks that name one holder again and again do not push out what is known of
// another, which may come to be named again.
func TestHolderThatIsNamedOftenPushesNobodyOut(t *testing.T) {
	q := &localQueue{}
	q.know(lockloop.NotAdmitted{Holder: "a", HolderData: []byte("who"), HolderSession: 7})
	for range 2 * maxKnown {
		q.note(lockloop.NotAdmitted{Seen: time.Unix(1, 0), Ahead: 1, Holder: "b", HolderSession: 8}, true)
	}
	q.note(lockloop.NotAdmitted{Seen: time.Unix(2, 0), Ahead: 1, Holder: "a"}, true)
	require.Equal(t, "who", string(q.seen.HolderData))
}
