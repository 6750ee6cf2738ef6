//go:build real

package locks_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leadertest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/locks"
)

func TestRealEnsembleContenderIsNotMisledByADeposedLeader(t *testing.T) {
	const n = 8
	w, e := newEnsembleWorld(t, zkserver.WithSyncLimit(600)) // the leader does not notice that it is cut off
	ctx, parent := w.Patience(t), recipetest.Path(t)
	path := func(i int) string { return fmt.Sprintf("%s/%d", parent, i) }
	detours := leadertest.Detours(t, ctx, e, "", n, func(c *framework.Client) {
		for i := range n { // makes the paths
			require.NoError(t, acquired(t)(locks.NewInterProcessMutex(c, path(i)).Acquire(ctx)).Release(ctx))
		}
	})
	var all sync.WaitGroup
	for i, d := range detours {
		all.Go(func() {
			d.Begin()
			lease, err := locks.NewInterProcessMutex(d.Client, path(i)).Acquire(ctx)
			if err != nil || !d.Returned() {
				t.Errorf("%v, returned: %t", err, d.Returned())
				return
			}
			names, _, err := d.Client.Children(ctx, path(i))
			if err != nil || len(names) != 1 {
				t.Errorf("%v, nodes: %v", err, names)
			}
			if err := lease.Release(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
