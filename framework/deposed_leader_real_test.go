//go:build real

package framework_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leadertest"
)

// The reply to a protected create is lost, and the client comes to a leader that
// was deposed before the create, and then to the others again. The deposed leader
// answers syncs and reads, and knows nothing of the node.
func TestRealEnsembleDeposedLeaderGivesNoVerdict(t *testing.T) {
	t.Parallel()
	const each = 4
	e := borrowEnsemble(t, contactLane, patient)
	ctx := within(t, stuck)
	parent := func(i int) string { return fmt.Sprint("/parent-", i) }
	detours := leadertest.Detours(t, ctx, e, chroot(t), each, func(c *framework.Client) {
		for i := range each {
			mustCreate(t, c, parent(i), "")
		}
	})
	var all sync.WaitGroup
	for i, d := range detours {
		all.Go(func() {
			d.Begin()
			_, err := d.Client.Create(ctx, parent(i)+"/n-", nil,
				framework.WithMode(framework.EphemeralSequential), framework.WithProtection())
			if err != nil || !d.Returned() {
				t.Errorf("%v, returned: %t", err, d.Returned())
			}
		})
	}
	all.Wait()
	last := detours[each-1].Client
	require.NoError(t, last.SyncQuorum(ctx))
	for i := range each {
		names, _, err := last.Children(ctx, parent(i))
		require.NoError(t, err)
		require.Len(t, names, 1)
	}
}
