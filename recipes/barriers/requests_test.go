package barriers_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// A round of n members costs eight requests for each of them, and two more, if they
// come and leave one after the other. So there is no herd: the number of requests
// grows with n, and not with its square.
func TestRequestsOfARound(t *testing.T) {
	for _, version := range []zktest.Version{zktest.Version393} {
		for _, n := range []int{1, 2, 5, 40} {
			for _, atOnce := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v,n=%d,atOnce=%v", version, n, atOnce), func(t *testing.T) {
					recipetest.InVirtualTime(t, func(t *testing.T, virtual *recipetest.World) {
						(&world{virtual}).countRequests(t, n, atOnce)
					}, zktest.WithVersion(version))
				})
			}
		}
	}
}

func (w *world) countRequests(t *testing.T, n int, atOnce bool) {
	clients := w.clients(t, n)
	w.leaveAll(t, w.enterAll(t, "/b", clients)) // makes the barrier's node
	w.Fake.ClearRequests()
	var pending []*entering
	for _, c := range clients {
		pending = append(pending, enterLater(w.Patience(t), barriers.NewDoubleBarrier(c, "/b", n)))
		if !atOnce {
			settle()
		}
	}
	var passages []*barriers.Passage
	for _, p := range pending {
		passages = append(passages, p.wait(t))
	}
	settle()
	entered := len(w.Requests())
	w.leave(t, passages, atOnce)
	total := len(w.Requests())
	t.Logf("%d members: %d requests to enter, %d to leave", n, entered, total-entered)
	if !atOnce {
		// Each member: create, list, read with a watch, read, list with a
		// watch. The last one opens, and reads once.
		require.Equal(t, 5*n+1, entered)
		// Each member: mark, and list when the round is over. The first one
		// reads the mark of each other one twice instead, and closes. The second
		// time, and once before, it reads them with one request.
		leave := 4*n - 2
		if n > 4 {
			leave = 3*n + 1
		}
		require.Equal(t, leave, total-entered)
	}
	require.LessOrEqual(t, total, 10*n)
	w.NothingLeft(t, "/b")
}

// leave lets members leave, at once or one after the other.
func (w *world) leave(t *testing.T, passages []*barriers.Passage, atOnce bool) {
	var left []*leaving
	for _, p := range passages {
		left = append(left, leaveLater(w.Patience(t), p))
		if !atOnce {
			settle()
		}
	}
	for _, l := range left {
		<-l.done
		require.NoError(t, l.err)
	}
	settle()
}

// In Curator's layout, a Leave asks the server once to catch up, with its first
// listing. There is no herd.
func TestRequestsInCuratorsLayout(t *testing.T) {
	for _, n := range []int{1, 2, 5, 40} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			clients := w.clients(t, n)
			w.leaveAll(t, w.enterAll(t, "/b", clients, barriers.WithCuratorLayout())) // makes the barrier's node
			w.Fake.ClearRequests()
			passages := w.enterAll(t, "/b", clients, barriers.WithCuratorLayout())
			// Each member: look for the opening, create, and list twice. The last
			// one opens.
			require.Len(t, w.Requests(), 4*n+1)
			w.Fake.ClearRequests()
			w.leave(t, passages, false)
			require.Equal(t, n, w.Fake.CountRequests(zktest.OpSync))
			require.LessOrEqual(t, len(w.Requests()), 10*n, "a herd would be of the order of n squared")
			w.NothingLeft(t, "/b")
		})
	}
}
