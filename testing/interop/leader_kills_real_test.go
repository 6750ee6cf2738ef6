//go:build real

package interop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/thorough"
)

func TestOneLatchLeadsWhoeverIsKilled(t *testing.T)    { electThroughKills(t, latch) }
func TestOneSelectorLeadsWhoeverIsKilled(t *testing.T) { electThroughKills(t, selector) }

// electThroughKills lets two elections go on beside each other.
func electThroughKills(t *testing.T, recipe string) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		for _, name := range []string{"one", "two"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				srv.electThroughKills(t, recipe)
			})
		}
	})
}

// electThroughKills starts five candidates of both languages and kills one of
// them 10 times, or 25 times in a full run. Mostly it
// kills the leader, by the end of its session or by the loss of all contact,
// which is kill -9 for Java processes. Sometimes it kills a waiting candidate.
// Each time a new leader follows with a larger token. The checker, which does
// not use ZooKeeper, must see one leader at a time.
func (srv *testServer) electThroughKills(t *testing.T, recipe string) {
	const crashesOfEach = 1
	kills := thorough.Size(25, 10)
	e := newElection(t, srv, recipe, shortSession, inJavaProcess, inGo, inJava, inGo, inJava)
	crashes, sessions := map[language]int{}, map[language]int{}
	for i := range kills {
		if i%10 == 0 {
			e.requireAgreement()
		}
		leader := e.awaitLeader()
		switch l := languageOf(leader.id()); {
		case (i%3 == 2 || i > kills/2) && crashes[l] < crashesOfEach && leader.canCrash():
			// The second condition covers thirds that are all of one
			// language.
			crashes[l]++
			e.crash(leader)
		case i%5 == 4:
			waiter := e.other(leader, i)
			sessions[languageOf(waiter.id())]++
			waiter.killSession(t, e.helper())
		default:
			sessions[l]++
			e.excludeLeader()
			leader.killSession(t, e.helper())
		}
	}
	e.awaitLeader()
	e.requireAgreement()
	leaderships := e.checker.leaderships()
	t.Logf("sessions ended: %v; crashes: %v; leaderships: %v", sessions, crashes, leaderships)
	if !thorough.Full() { // chance decides whom ten kills meet
		e.end()
		return
	}
	for _, l := range []language{inGo, inJava} {
		require.Equal(t, crashesOfEach, crashes[l])
		require.Greater(t, sessions[l], 5)
		require.Greater(t, leaderships[l], 5)
	}
	e.end()
}
