package framework_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A caller whose context has ended uses the memory of its data again, such as a
// buffer of a pool. The client may still look at the request then, when the
// connection ends with it. The race detector sees whether it looks there.
func TestDataOfAWriteIsItsCallersAgain(t *testing.T) {
	for name, write := range map[string]func(ctx context.Context, c *framework.Client, data []byte) error{
		"create": func(ctx context.Context, c *framework.Client, data []byte) error {
			_, err := c.Create(ctx, "/n/c", data)
			return err
		},
		"set": func(ctx context.Context, c *framework.Client, data []byte) error {
			_, err := c.Set(ctx, "/n", data, framework.AnyVersion)
			return err
		},
		"transaction": func(ctx context.Context, c *framework.Client, data []byte) error {
			_, err := c.Transaction(ctx, framework.SetOp("/n", data, 0), framework.CreateOp("/n/c", data))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				require.NoError(t, srv.Create("/n", nil))
				srv.Inject(zktest.Rule{Op: zktest.OpAny, Do: zktest.DelayRequest(time.Hour)})
				data := make([]byte, 100)
				require.ErrorIs(t, write(within(t, time.Second), c, data), framework.ErrOutcomeUnknown)
				srv.CutAll()
				for i := range data {
					data[i] = 'x'
				}
				synctest.Wait()
			})
		})
	}
}
