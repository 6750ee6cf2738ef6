package moving

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// errBusy is what a shop tells its customers.
var errBusy = errors.New("busy, please come again")

// sellWithin waits for the lock for five seconds at most.
func sellWithin(ctx context.Context, client *framework.Client, sell func(context.Context) error) error {
	wait, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	lease, err := locks.NewInterProcessMutex(client, "/locks/sku-42").Acquire(wait)
	if errors.Is(err, locks.ErrNotAcquired) {
		return errBusy // others were ahead all the time
	}
	if err != nil {
		return err
	}
	defer lease.Release(ctx) // also right when ctx has ended

	work, done := lease.WithContext(ctx) // ends with the lease, and with ctx
	defer done()
	return sell(work)
}

// transfer re-enters the lock, because it passes on the context of its lease.
func transfer(ctx context.Context, client *framework.Client, debit, credit func(context.Context) error) error {
	mutex := locks.NewInterProcessMutex(client, "/locks/accounts")
	return mutex.Do(ctx, func(ctx context.Context) error {
		if err := mutex.Do(ctx, debit); err != nil {
			return err
		}
		return mutex.Do(ctx, credit)
	})
}

func TestSellWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		client := curatortest.Connect(t, srv)
		sell := func(ctx context.Context) error { return context.Cause(ctx) }
		require.NoError(t, sellWithin(t.Context(), client, sell))

		lease, err := locks.NewInterProcessMutex(client, "/locks/sku-42").Acquire(t.Context())
		require.NoError(t, err)
		start := time.Now()
		require.ErrorIs(t, sellWithin(t.Context(), client, sell), errBusy)
		require.Equal(t, 5*time.Second, time.Since(start))
		require.NoError(t, lease.Release(t.Context()))
	})
}

func TestTransfer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		client := curatortest.Connect(t, srv)
		done := 0
		half := func(context.Context) error { done++; return nil }
		require.NoError(t, transfer(t.Context(), client, half, half))
		require.Equal(t, 2, done)
	})
}
