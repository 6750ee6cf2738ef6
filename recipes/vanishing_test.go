package recipes_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// Somebody deletes each node as soon as it is there: a reaper, or a script that
// tidies up. No call of the client or of a recipe creates its node again and
// again without a pause.
func TestNodesThatVanishAreCreatedAgainAfterPauses(t *testing.T) {
	t.Parallel()
	const most = 50 // in a second; a create tries five times by itself
	for _, op := range everyOperation {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				call := op.prepare(t, s)
				var vanished atomic.Int64
				s.srv.Inject(zktest.Rule{Optional: true, Session: s.client.SessionID(), Times: -1, Do: zktest.CallAfter(func(r zktest.Request) {
					if r.Created != "" && vanished.Load() < 3000 && s.srv.Delete(r.Created) == nil {
						vanished.Add(1)
					}
				})})
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				begun := time.Now()
				_ = call(ctx)
				took := max(time.Since(begun), time.Second)
				require.Less(t, float64(vanished.Load())/took.Seconds(), float64(most))
			})
		})
	}
}
