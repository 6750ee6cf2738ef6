package barriers_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// A round of n members costs eight requests for each of them, and two more, if they
// come and leave one after the other. With servers before 3.9, it is nine for each,
// less one. So there is no herd: the number of requests grows with n, and not with
// its square.
func TestRequestsOfARound(t *testing.T) {
	for version, together := range map[zktest.Version]bool{zktest.Version393: true, zktest.Version384: false, zktest.Version3510: false} {
		for _, n := range []int{1, 2, 5, 40} {
			for _, atOnce := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v,n=%d,atOnce=%v", version, n, atOnce), func(t *testing.T) {
					recipetest.InVirtualTime(t, func(t *testing.T, virtual *recipetest.World) {
						(&world{virtual}).countRequests(t, n, atOnce, together)
					}, zktest.WithVersion(version))
				})
			}
		}
	}
}

func (w *world) countRequests(t *testing.T, n int, atOnce, together bool) {
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
		if together && n > 4 {
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

// One request reads the marks of 113 members. Another one reads the rest, or one for
// each if they are up to three. The others' marks are read together all the same.
func TestRequestsForTheMarksOfManyMembers(t *testing.T) {
	for n, requests := range map[int]int{114: 3*114 + 1, 115: 3*115 + 2, 117: 3*117 + 4, 118: 3*118 + 3} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			passages := w.enterAll(t, "/b", w.clients(t, n))
			settle()
			w.Fake.ClearRequests()
			w.leave(t, passages, false)
			require.Len(t, w.Requests(), requests, "%d members", n)
			w.NothingLeft(t, "/b")
		})
	}
}

// Many more members come at once than open the barrier. The number of requests
// grows with the number of members, and not with its square. All but those who
// are too few for a round enter, in their order.
func TestRequestsOfManyRoundsAtOnce(t *testing.T) {
	for _, all := range thorough.Some(2, 41, 81, 401) {
		inVirtualTime(t, func(t *testing.T, w *world) {
			newChecker(t, w.Fake, "/b", 2)
			w.Fake.Inject(zktest.Rule{Times: -1, Do: zktest.DelayReply(5 * time.Millisecond)})
			c, _ := w.Connect(t)
			ctx, stop := context.WithCancel(w.Patience(t))
			defer stop()
			w.Fake.ClearRequests()
			var pending []*entering
			for range all {
				pending = append(pending, enterLater(ctx, barriers.NewDoubleBarrier(c, "/b", 2)))
			}
			time.Sleep(900 * time.Millisecond)
			sent := len(w.Requests())
			t.Logf("%d members: %d requests", all, sent)
			require.Less(t, sent, 12*all)
			var passages []*barriers.Passage
			for _, p := range pending {
				if p.isOver() {
					passages = append(passages, p.wait(t))
				}
			}
			require.Len(t, passages, all-1)
			stop()
			w.leaveAll(t, passages)
			w.NothingLeft(t, "/b")
		})
	}
}

// A look at a barrier costs two requests: one asks the server to catch up. A
// Wait makes one more when the barrier falls.
func TestRequestsOfAWait(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		b := barriers.NewBarrier(c, "/b")
		w.Fake.ClearRequests()
		require.NoError(t, b.Wait(t.Context()))
		require.Len(t, w.Requests(), 2)
		_, _, err := b.Raised(t.Context())
		require.NoError(t, err)
		require.Len(t, w.Requests(), 4)
		require.NoError(t, w.Fake.Create("/b", nil))
		done := waitLater(t.Context(), b)
		settle()
		require.NoError(t, w.Fake.Delete("/b"))
		require.NoError(t, <-done)
		require.Len(t, w.Requests(), 7)
	})
}

// Members asks the server to catch up, and reads 40 members with one request. The
// first time, another one asks the server whether it knows that. One that does not
// say so is asked for each member.
func TestRequestsOfMembers(t *testing.T) {
	for version, reads := range map[zktest.Version][2]int{zktest.Version393: {0, 1}, zktest.Version384: {40, 0}, zktest.Version3510: {40, 0}} {
		recipetest.InVirtualTime(t, func(t *testing.T, virtual *recipetest.World) {
			w := &world{virtual}
			p := w.enterAll(t, "/b", w.clients(t, 40))
			settle()
			for probes := range 2 {
				w.Fake.ClearRequests()
				members, err := barriers.NewDoubleBarrier(w.Observer, "/b", 40).Members(t.Context())
				require.NoError(t, err)
				require.Len(t, members, 40)
				require.Equal(t, 1, w.Fake.CountRequests(zktest.OpSync))
				require.Equal(t, 1, w.Fake.CountRequests(zktest.OpGetChildren2))
				require.Equal(t, 1-probes, w.Fake.CountRequests(zktest.OpRemoveWatches))
				require.Equal(t, 1+reads[0], w.Fake.CountRequests(zktest.OpGetData), "the rounds, and members")
				require.Equal(t, reads[1], w.Fake.CountRequests(zktest.OpMultiRead))
			}
			w.leaveAll(t, p)
		}, zktest.WithVersion(version))
	}
}

// While a member waits for the opening, it has one watch, and another one on
// its own node after a second. Inside it has one watch.
func TestWatchesOfAMember(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 2)
		first := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[0], "/b", 2))
		settle()
		require.Len(t, w.Fake.Watches(), 1)
		time.Sleep(2 * time.Second)
		settle()
		require.Len(t, w.Fake.Watches(), 2)
		second := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[1], "/b", 2))
		passages := []*barriers.Passage{first.wait(t), second.wait(t)}
		settle()
		require.Len(t, w.Fake.Watches(), 2, "one for each member")
		w.leaveAll(t, passages)
		w.NothingLeft(t, "/b")
	})
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
			require.LessOrEqual(t, len(w.Requests()), 7*n, "who waits for whom is by chance")
			w.NothingLeft(t, "/b")
		})
	}
}
