//go:build real

package interop_test

import (
	"path"
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
					// Java's LeaderLatch misses its turn behind a revoked leader: the
					// marker of the revocation uses up its one-time watch.
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

// The queue of a Selector is the queue of a mutex, in either language.
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
