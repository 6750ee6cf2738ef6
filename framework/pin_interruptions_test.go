package framework_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/testing/zktest"
)

// The retry loop of the documentation goes on for as long as each interruption
// is short.
func TestInSessionInterruptionsThatAreOverDoNotAddUp(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		lost := func(err error) bool { return errors.Is(err, framework.ErrSessionLost) }
		policy := retry.BoundedExponential(100*time.Millisecond, 2*time.Second, 5)
		require.NoError(t, retry.Do(t.Context(), policy, lost, func(ctx context.Context) error {
			return c.InSession(ctx, func(ctx context.Context) error {
				for n := range 20 {
					time.Sleep(time.Minute)
					srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.DropReply()})
					_, _, err := c.Get(ctx, "/")
					require.NoError(t, err, "interruption %d", n)
				}
				return nil
			})
		}))
	})
}
