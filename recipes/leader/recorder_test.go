package leader_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
)

// The debug page shows a leadership that was lost until its leader has stopped. A
// leadership after that is the only one on the page.
func TestRecorderForgetsLostLeadershipsWhoseLeaderHasStopped(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, w *world, cut func(), lease *locks.Lease){
		"interrupted": func(_ *testing.T, _ *world, cut func(), _ *locks.Lease) { cut() },
		"revoked": func(t *testing.T, w *world, _ func(), lease *locks.Lease) {
			require.NoError(t, locks.Revoke(t.Context(), w.Observer, lease.Path()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, network := w.Connect(t, framework.WithErrorPolicy(state.StandardPolicy))
				recorder := insider.Of(c).StartRecorder()
				l := latch(t, c, "/latch")
				for range 3 {
					lease := w.await(t, l)
					lose(t, w, network.Cut, lease)
					<-lease.Context().Done()
					require.Error(t, lease.Release(t.Context()))
				}
				w.await(t, l)
				synctest.Wait()
				require.Len(t, recorder.Records(), 1)
				w.closeAll(t, "/latch", l)

				err := leader.NewSelector(c, "/selector").Run(t.Context(), func(ctx context.Context) error {
					lease, _ := locks.LeaseFromContext(ctx)
					lose(t, w, network.Cut, lease)
					<-ctx.Done()
					require.Len(t, recorder.Records(), 1)
					return nil
				})
				require.Error(t, err)
				require.Empty(t, recorder.Records())
			})
		})
	}
}
