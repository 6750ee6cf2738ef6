package scenarios

import (
	"testing"
	"time"

	"github.com/gocurator/curator/internal/explore"
)

// An operator deletes the nodes of those who wait.
func TestDoubleBarrierWhoseWaitingMemberIsDeleted(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		meeting{trouble: none, n: 2, apart: 2 * time.Second}.of(2, 1)(w)
		w.Actor("O", func(a *explore.Actor) {
			time.Sleep(time.Second)
			deleteBelow(a, "/barrier")
		})
	}, quick())
}

// What a crash has left lets nobody pass.
func TestDoubleBarrierBehindACrash(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		rendezvous(2, 1, none)(w)
		w.Node("/barrier/ready", "")
	}, quick())
}

// What a crash has left lets nobody pass: two of three wait for the third, who
// comes later.
func TestDoubleBarrierOfThreeBehindACrash(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		at := []time.Duration{0, 0, 10 * time.Second}
		meeting{trouble: none, n: 3, at: at}.of(3, 1)(w)
		w.Node("/barrier/ready", "")
	}, quick())
}
