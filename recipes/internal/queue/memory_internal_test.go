package queue

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// holderOfQuestions is a holder that calls a function whenever it is asked.
type holderOfQuestions struct {
	asked func()
	ended bool
}

func (h *holderOfQuestions) HasNodes() bool {
	h.asked()
	return true
}

func (h *holderOfQuestions) NodeDeleted() { h.ended = true }

// Another object of the client hands the lock over in the moment in which a goroutine
// that got it at the server ends what the client holds. The race detector is the judge.
func TestHandOverWhileARivalIsEnded(t *testing.T) {
	const node = "lock-0000000001"
	set := &queueSet{}
	q, handingOver := set.find(&localKey{}), set.find(&localKey{object: &Queue{}})
	var handOver sync.WaitGroup
	rival := &holderOfQuestions{asked: func() {
		handOver.Go(func() { handingOver.tryNoteNext(&turn{node: node, claim: &claim.Claim{}}) })
	}}
	handingOver.alone = &holding{seen: lockloop.NotAdmitted{Holder: node}, by: rival, czxid: 1}
	q.endGone(&holding{czxid: 2}, nil, false)
	handOver.Wait()
	require.True(t, rival.ended)
}
