//go:build real

package interop_test

import (
	"path"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/locks"
)

var leaderRecipes = []string{latch, selector}

// Candidates of both languages lead in the order of their candidacies. All of
// them see the same candidates, by their ids.
func TestLeadershipGoesFromOneLanguageToTheOther(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		for _, recipe := range leaderRecipes {
			e := newElection(t, srv, recipe, longSession, inGo, inJava, inGo, inJava)
			for range 3 {
				e.requireAgreement()
				leader := e.awaitLeader()
				require.Equal(t, e.candidates[0], leader)
				e.excludeLeader() // Java's latch tells its own listeners last.
				leader.resign(t)
				e.candidates = e.candidates[1:]
			}
			e.requireAgreement()
			e.end()
		}
	})
}

// Either language may ask a Go leader to step down. The leader does so, the
// next candidate leads, and the old leader comes back at the end of the queue.
func TestOurLeaderIsRevoked(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		for _, recipe := range leaderRecipes {
			for _, by := range []language{inGo, inJava} {
				next := inJava
				if recipe == latch {
					// See TestJavasLatchMissesItsTurnBehindARevokedOne.
					next = inGo
				}
				e := newElection(t, srv, recipe, longSession, inGo, next, inJava)
				e.requireAgreement()
				e.revoke(by)
				e.candidates = append(e.candidates[1:], e.candidates[0])
				require.Equal(t, e.candidates[0], e.awaitLeader())
				e.requireAgreement()
				require.Equal(t, e.candidates[2].id(), e.candidates[0].candidates(t)[2])
				e.end()
			}
		}
	})
}

// revoke asks the leader, which must be in Go, to step down.
func (e *election) revoke(by language) {
	node := e.candidates[0].(*goCandidate).node(e.t)
	if e.recipe == latch {
		e.excludeLeader() // a latch does not wait for the leader's work to end
	} else {
		e.markOver()
	}
	if by == inGo {
		require.NoError(e.t, locks.Revoke(withDeadline(e.t), e.srv.observer, node))
	} else {
		e.helper().must(e.t, "revoke", node)
	}
}

// Java's LeaderLatch sets a one-time watch on the data of the node ahead. A
// revocation writes its marker there. That fires the watch, but only the
// deletion of the node would have made the latch look again. So it does not
// notice that it is the first until it reconnects. Use revocation with Go
// latches only.
func TestJavasLatchMissesItsTurnBehindARevokedOne(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		e := newElection(t, srv, latch, longSession, inGo, inJava)
		ours, theirs := e.candidates[0].(*goCandidate), e.candidates[1]
		e.awaitLeader()
		srv.waitWatches(t, ours.node(t), 2) // the leader's own watch and Java's
		e.revoke(inGo)
		want := []string{theirs.id(), ours.id()}
		require.Eventually(t, func() bool { return slices.Equal(ours.candidates(t), want) },
			waitLimit, 10*time.Millisecond)
		javaLeads := func() bool { return e.checker.leaderships()[inJava] > 0 }
		require.Never(t, javaLeads, shortWaitMs*time.Millisecond, 10*time.Millisecond)

		theirs.killSession(t, nil)
		require.Equal(t, ours, e.awaitLeader(), "Java is a candidate again, at the end")
		e.requireAgreement()
		e.end()
	})
}

// The queue of a Selector is that of a mutex, in either language.
func TestSelectorAndMutexExcludeEachOther(t *testing.T) {
	bothWays(t, func(t *testing.T, srv *testServer, leading, locking language) {
		c, lock := openLeaderChecker(t, srv.lives), lockPath(t)
		mutex := srv.contender(t, locking)
		held := acquire(t, mutex, lock)
		first := srv.newCandidate(t, leading, 1, lock, selector, c, longSession)
		srv.waitNodes(t, lock, 2)
		leads := func() bool { return c.leaderships()[leading] > 0 }
		require.Never(t, leads, 50*time.Millisecond, 10*time.Millisecond)
		require.NoError(t, held.release())
		_, token, err := c.await(withDeadline(t), held.token)
		require.NoError(t, err)

		waiting := srv.acquireBehind(t, mutex, lock, "")
		first.resign(t)
		grant := waiting.wait(t)
		require.Greater(t, grant.token, token)
		require.Equal(t, []string{path.Base(grant.node)}, srv.waitNodes(t, lock, 1))
		require.NoError(t, grant.release())
		srv.requireNothingLeft(t, lock)
	})
}
