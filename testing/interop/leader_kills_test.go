package interop_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOneLatchLeadsWhoeverIsKilled(t *testing.T)    { electThroughKills(t, latch) }
func TestOneSelectorLeadsWhoeverIsKilled(t *testing.T) { electThroughKills(t, selector) }

// electThroughKills starts five candidates of both languages and kills one of
// them 50 times. Mostly it kills the leader, by the end of its session or by
// the loss of all contact, which is kill -9 for Java processes. Sometimes it
// kills a waiting candidate. Each time a new leader follows with a larger
// token. The checker, which does not use ZooKeeper, must see one leader at a
// time.
func electThroughKills(t *testing.T, recipe string) {
	t.Parallel()
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		const kills, crashesOfEach = 50, 2
		e := newElection(t, srv, recipe, shortSession, inJavaProcess, inGo, inJavaProcess, inGo, inJava)
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
		for _, l := range []language{inGo, inJava} {
			require.Equal(t, crashesOfEach, crashes[l])
			require.Greater(t, sessions[l], 10)
			require.Greater(t, leaderships[l], 10)
		}
		e.end()
	})
}
