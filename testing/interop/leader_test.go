package interop_test

import (
	"path"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes"
)

var leaderRecipes = []string{latch, selector}

// Candidates of both languages lead in the order in which they stood, and everybody sees the same ones, by their ids.
func TestLeadershipGoesFromOneLanguageToTheOther(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		for _, recipe := range leaderRecipes {
			e := newElection(t, w, recipe, longSession, inGo, inJava, inGo, inJava)
			for range 3 {
				e.allAgree()
				leader := e.awaitLeader()
				require.Equal(t, e.candidates[0], leader)
				e.depose() // Java's latch tells its own listeners last
				leader.resign(t)
				e.candidates = e.candidates[1:]
			}
			e.allAgree()
			e.end()
		}
	})
}

// Either language may ask a leader of ours to step down. It does so, the next one leads, and ours stands again behind all.
func TestOurLeaderIsRevoked(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		for _, recipe := range leaderRecipes {
			for _, by := range []language{inGo, inJava} {
				next := inJava
				if recipe == latch {
					next = inGo // see TestJavasLatchMissesItsTurnBehindARevokedOne
				}
				e := newElection(t, w, recipe, longSession, inGo, next, inJava)
				e.allAgree()
				e.revoke(by)
				e.candidates = append(e.candidates[1:], e.candidates[0])
				require.Equal(t, e.candidates[0], e.awaitLeader())
				e.allAgree()
				require.Equal(t, e.candidates[2].id(), e.candidates[0].all(t)[2])
				e.end()
			}
		}
	})
}

// revoke asks the leader, who must be ours, to step down.
func (e *election) revoke(by language) {
	node := e.candidates[0].(*goCandidate).node(e.t)
	if e.recipe == latch {
		e.depose() // a latch does not wait for the leader's work to end
	} else {
		e.over()
	}
	if by == inGo {
		require.NoError(e.t, recipes.Revoke(patience(e.t), e.w.observer, node))
	} else {
		e.helper().must(e.t, "revoke", node)
	}
}

// Java's LeaderLatch watches the data of the node ahead, and asks to be told once. When the marker of a revocation is written
// there, it has been told, but only the deletion of the node would have made it look: it does not notice that it is the
// first, until it reconnects. So revocation is for latches of ours alone.
func TestJavasLatchMissesItsTurnBehindARevokedOne(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		e := newElection(t, w, latch, longSession, inGo, inJava)
		ours, theirs := e.candidates[0].(*goCandidate), e.candidates[1]
		e.awaitLeader()
		w.waitWatches(t, ours.node(t), 2) // the leader's own, and Java's
		e.revoke(inGo)
		require.Eventually(t, func() bool { return slices.Equal(ours.all(t), []string{theirs.id(), ours.id()}) },
			tooLong, 10*time.Millisecond)
		require.Never(t, func() bool { return e.throne.ascents()[inJava] > 0 }, soon*time.Millisecond, 10*time.Millisecond)

		theirs.killSession(t, nil)
		require.Equal(t, ours, e.awaitLeader(), "Java stands again at the end")
		e.allAgree()
		e.end()
	})
}

// A LeaderSelector's place is that of a mutex, in either language.
func TestSelectorAndMutexExcludeEachOther(t *testing.T) {
	bothWays(t, func(t *testing.T, w *world, leading, locking language) {
		th, lock := openThrone(t), lockPath(t)
		mutex := w.contender(t, locking)
		held := acquire(t, mutex, lock)
		first := w.stand(t, leading, 1, lock, selector, th, longSession)
		w.waitNodes(t, lock, 2)
		require.Never(t, func() bool { return th.ascents()[leading] > 0 }, 50*time.Millisecond, 10*time.Millisecond)
		require.NoError(t, held.release())
		_, token, err := th.await(patience(t), held.token)
		require.NoError(t, err)

		waiting := w.acquireBehind(t, mutex, lock, "")
		first.resign(t)
		grant := waiting.wait(t)
		require.Greater(t, grant.token, token)
		require.Equal(t, []string{path.Base(grant.node)}, w.waitNodes(t, lock, 1))
		require.NoError(t, grant.release())
		w.nothingLeft(t, lock)
	})
}
