package scenarios

import (
	"testing"
	"time"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/barriers"
)

// What a crash has left lets nobody pass: two of three wait for the third, who
// comes later.
func TestDoubleBarrierOfThreeBehindACrash(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		at := []time.Duration{0, 0, 10 * time.Second}
		meeting{trouble: none, n: 3, at: at, opts: []barriers.Option{barriers.WithCuratorLayout()}}.of(3, 1)(w)
		w.Node("/barrier/ready", "")
	}, quick())
}
