//go:build real

package framework_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leadertest"
)

// The reply to a write is lost, and the client comes to a leader that was
// deposed before the write, and then to the others again. That leader answers
// syncs and reads, and knows nothing of the write.
func TestRealEnsembleDeposedLeaderGivesNoVerdict(t *testing.T) {
	t.Parallel()
	const each = 4
	e := borrowEnsemble(t, contactLane, patient)
	ctx := within(t, stuck)
	writes := map[string]func(ctx context.Context, c *framework.Client, i int) error{
		"set of a version": func(ctx context.Context, c *framework.Client, i int) error {
			_, err := c.Set(ctx, fmt.Sprint("/set-", i), []byte("new"), 0)
			return err
		},
		"ephemeral create": func(ctx context.Context, c *framework.Client, i int) error {
			_, err := c.Create(ctx, fmt.Sprint("/ephemeral-", i), nil, framework.WithMode(framework.Ephemeral))
			return err
		},
		"protected create": func(ctx context.Context, c *framework.Client, i int) error {
			_, err := c.Create(ctx, fmt.Sprintf("/set-%d/n-", i), nil,
				framework.WithMode(framework.EphemeralSequential), framework.WithProtection())
			return err
		},
	}
	detours := leadertest.Detours(t, ctx, e, chroot(t), each*len(writes), func(c *framework.Client) {
		for i := range each {
			mustCreate(t, c, fmt.Sprint("/set-", i), "old")
		}
	})
	last := detours[len(detours)-1]
	var all sync.WaitGroup
	for name, write := range writes {
		for i := range each {
			d := detours[0]
			detours = detours[1:]
			all.Go(func() {
				d.Begin()
				if err := write(ctx, d.Client, i); err != nil || !d.Returned() {
					t.Errorf("%s: %v, returned: %t", name, err, d.Returned())
				}
			})
		}
	}
	all.Wait()
	require.NoError(t, last.Client.SyncQuorum(ctx))
	for i := range each {
		names, _, err := last.Client.Children(ctx, fmt.Sprint("/set-", i))
		require.NoError(t, err)
		require.Len(t, names, 1, "of a protected create")
	}
}
