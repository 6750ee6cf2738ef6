package leader

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/locks"
)

// The lease is lost between the grant and the call of work.
//
// Promise: No work starts under a lease that has ended.
func TestWorkDoesNotStartUnderAnEndedLease(t *testing.T) {
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(locks.ErrNodeDeleted)
	stopped, err := (&Latch{}).workUntilAsked(ended, &locks.Lease{}, func(context.Context) error {
		t.Error("work has started")
		return nil
	})
	require.NoError(t, err)
	require.True(t, stopped, "Lead waits for the next leadership")
}
