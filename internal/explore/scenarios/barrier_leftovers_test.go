package scenarios

import (
	"testing"
	"time"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/barriers"
)

// An operator deletes the nodes of those who wait.
func operatorAtABarrier(opts ...barriers.Option) explore.Scenario {
	return func(w *explore.World) {
		meeting{trouble: none, n: 2, opts: opts, apart: 2 * time.Second, operator: true}.of(2, 1)(w)
		w.Actor("O", func(a *explore.Actor) {
			time.Sleep(time.Second)
			deleteBelow(a, "/barrier")
		})
	}
}

func TestDoubleBarrierInCuratorsLayoutWhoseWaitingMemberIsDeleted(t *testing.T) {
	explore.Search(t, operatorAtABarrier(barriers.WithCuratorLayout()), quick())
}

// What a crash has left lets nobody pass.
func TestDoubleBarrierBehindACrash(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		rendezvous(2, 1, none, barriers.WithCuratorLayout())(w)
		w.Node("/barrier/ready", "")
	}, quick())
}
