package scenarios

import (
	"testing"
	"time"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/testing/zktest"
)

// onlooking has a client that follows what another one changes.
func onlooking(own trouble) explore.Scenario {
	return func(w *explore.World) {
		o := watchOnlooker(w, own)
		w.Actor("A", func(a *explore.Actor) {
			o.actor = a
			_ = a.CallWithin("follow", time.Second, o.follow)
		})
		w.Actor("B", o.changes)
	}
}

func TestWatchesOfAClient(t *testing.T) {
	for _, c := range []struct {
		name string
		own  trouble
	}{
		{"in peace", none},
		{"cut", cut},
		{"cut for a while", both(meets(zktest.OpConnect, zktest.DelayRequest(400*time.Millisecond)), cut)},
		{"expired", expired},
		{"given up", givenUp},
		{"moved", moved},
	} {
		t.Run(c.name, func(t *testing.T) { explore.Search(t, onlooking(c.own), brief()) })
	}
}

// The servers lag, and the client comes to another one.
func TestWatchesOfAClientInAnEnsemble(t *testing.T) {
	for _, c := range []struct {
		name string
		own  trouble
	}{
		{"cut", cut},
		{"expired", expired},
		{"expired, and cut early", both(expired, meets(zktest.OpExists, zktest.DropReply()))},
	} {
		t.Run(c.name, func(t *testing.T) { explore.Search(t, inEnsemble(onlooking(c.own), 0, time.Second), brief()) })
	}
}
