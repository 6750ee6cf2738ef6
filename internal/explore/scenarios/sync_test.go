package scenarios

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
)

// A client that has called SyncQuorum reads what was written before, also
// at a leader that lags. It comes to one server after the other.
func TestSyncOfAClientWhoseLeaderLags(t *testing.T) {
	explore.Search(t, inEnsemble(func(w *explore.World) {
		const rounds, pause = 4, 200 * time.Millisecond
		w.Node("/m", "")
		var written int64
		w.Actor("A", func(a *explore.Actor) {
			for range rounds {
				_ = a.Call("write", func(ctx context.Context) error {
					stat, err := a.Client().Set(ctx, "/m", nil, framework.AnyVersion)
					if err == nil {
						written = stat.Mzxid
					}
					return err
				})
				time.Sleep(pause)
			}
		})
		w.Actor("B", func(a *explore.Actor) {
			for range rounds {
				time.Sleep(pause)
				before := written
				_ = a.Call("sync and read", func(ctx context.Context) error {
					return a.Client().InSession(ctx, func(ctx context.Context) error {
						if err := a.Client().SyncQuorum(ctx); err != nil {
							return err
						}
						_, stat, err := a.Client().Get(ctx, "/m")
						if err == nil && stat.Mzxid < before {
							w.Fail("%s has synced and reads transaction %#x, and %#x was written", a.Name(), stat.Mzxid, before)
						}
						return err
					})
				})
				a.Cut()
			}
		})
	}, time.Second), brief())
}
