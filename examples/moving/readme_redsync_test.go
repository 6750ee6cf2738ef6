package moving

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// runOnce runs a job, unless another process is at it.
func runOnce(ctx context.Context, client *framework.Client, job func(context.Context, int64) error) error {
	lease, err := locks.NewInterProcessMutex(client, "/jobs/nightly").TryAcquire(ctx)
	if errors.Is(err, locks.ErrNotAcquired) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lease.Release(ctx)

	work, done := lease.WithContext(ctx) // nothing has to be extended
	defer done()
	return job(work, lease.FencingToken())
}

func TestRunOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		client := curatortest.Connect(t, srv)
		runs := 0
		err := runOnce(t.Context(), client, func(ctx context.Context, token int64) error {
			runs++
			require.Positive(t, token)
			return runOnce(t.Context(), client, func(context.Context, int64) error {
				runs++
				return nil
			})
		})
		require.NoError(t, err)
		require.Equal(t, 1, runs)
	})
}
