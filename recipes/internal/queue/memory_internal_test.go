package queue

import (
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
	require.Equal(t, later, q.beyond)
	q.noteBeyond(lockloop.NotAdmitted{})
	require.Zero(t, q.beyond)
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
