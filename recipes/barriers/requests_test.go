package barriers_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// leave lets members leave, one after the other.
func (w *world) leave(t *testing.T, passages []*barriers.Passage) {
	var left []*leaving
	for _, p := range passages {
		left = append(left, leaveLater(w.Patience(t), p))
		settle()
	}
	for _, l := range left {
		<-l.done
		require.NoError(t, l.err)
	}
	settle()
}

// A Leave asks the server once to catch up, with its first
// listing. There is no herd.
func TestRequestsOfARound(t *testing.T) {
	for _, n := range []int{1, 2, 5, 40} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			clients := w.clients(t, n)
			w.leaveAll(t, w.enterAll(t, "/b", clients)) // makes the barrier's node
			w.Fake.ClearRequests()
			passages := w.enterAll(t, "/b", clients)
			// Each member: look for the opening, create, and list. The last one
			// opens.
			require.Len(t, w.Requests(), 3*n+1)
			w.Fake.ClearRequests()
			w.leave(t, passages)
			require.Equal(t, n, w.Fake.CountRequests(zktest.OpSync))
			require.LessOrEqual(t, len(w.Requests()), 10*n, "a herd would be of the order of n squared")
			w.NothingLeft(t, "/b")
		})
	}
}
