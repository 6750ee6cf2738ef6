package interop_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOneLatchLeadsWhoeverIsKilled(t *testing.T)    { electThroughKills(t, latch) }
func TestOneSelectorLeadsWhoeverIsKilled(t *testing.T) { electThroughKills(t, selector) }

// electThroughKills has five candidates, of both languages, and kills one of them 50 times: mostly the leader, whose
// session is ended by the server, or who loses all contact, the Java processes by kill -9; and sometimes one who waits. Each
// time there is a new leader with a larger token. The throne, which knows nothing of ZooKeeper, sees one at a time.
func electThroughKills(t *testing.T, recipe string) {
	t.Parallel()
	inBothWorlds(t, func(t *testing.T, w *world) {
		const kills, crashesOfEach = 50, 2
		e := newElection(t, w, recipe, shortSession, inJava, inGo, inJava, inGo, inJava)
		crashes, sessions := map[language]int{}, map[language]int{}
		for i := range kills {
			if i%10 == 0 {
				e.allAgree()
			}
			leader := e.awaitLeader()
			switch l := languageOf(leader.id()); {
			case (i%3 == 2 || i > kills/2) && crashes[l] < crashesOfEach: // also if the thirds are all of one language
				crashes[l]++
				e.crash(leader)
			case i%5 == 4:
				waiter := e.another(leader, i)
				sessions[languageOf(waiter.id())]++
				waiter.killSession(t, e.helper())
			default:
				sessions[l]++
				e.depose()
				leader.killSession(t, e.helper())
			}
		}
		e.awaitLeader()
		e.allAgree()
		ascents := e.throne.ascents()
		t.Logf("sessions ended: %v; crashes: %v; ascents: %v", sessions, crashes, ascents)
		for _, l := range []language{inGo, inJava} {
			require.Equal(t, crashesOfEach, crashes[l])
			require.Greater(t, sessions[l], 10)
			require.Greater(t, ascents[l], 10)
		}
		e.end()
	})
}
