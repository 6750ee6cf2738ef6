package moving

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// writeAsOwner writes only while the lock is held: the servers check that.
func writeAsOwner(ctx context.Context, client *framework.Client, data []byte) error {
	mutex := locks.NewInterProcessMutex(client, "/locks/settings")
	return mutex.Do(ctx, func(ctx context.Context) error {
		lease, _ := locks.LeaseFromContext(ctx)
		write := framework.SetOp("/settings", data, framework.AnyVersion)
		_, err := client.Transaction(ctx, append(lease.Checks(), write)...)
		return err
	})
}

// campaign waits until this process leads, and leads until ctx ends.
func campaign(ctx context.Context, client *framework.Client, work func(context.Context) error) error {
	latch, err := leader.NewLatch(client, "/leader/billing", leader.WithID("billing-1"))
	if err != nil {
		return err
	}
	defer latch.Shutdown(context.WithoutCancel(ctx)) // resigns
	return latch.Lead(ctx, work)
}

func TestWriteAsOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		client := curatortest.Connect(t, srv)
		_, err := client.Create(t.Context(), "/settings", nil)
		require.NoError(t, err)
		require.NoError(t, writeAsOwner(t.Context(), client, []byte("blue")))
		data, _, err := client.Get(t.Context(), "/settings")
		require.NoError(t, err)
		require.Equal(t, "blue", string(data))
	})
}

func TestCampaign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		client := curatortest.Connect(t, srv)
		ctx, stop := context.WithCancel(t.Context())
		err := campaign(ctx, client, func(ctx context.Context) error {
			stop() // the service is told to stop
			<-ctx.Done()
			return nil
		})
		require.ErrorIs(t, err, context.Canceled)
	})
}
