package framework_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/testing/zktest"
)

// panicking is a hook that panics at the end of each operation of one name.
type panicking string

func (p panicking) EndOperation(_ context.Context, end clienttrace.OperationEnd) {
	if end.Name == string(p) {
		panic("hook")
	}
}

// A program such as net/http recovers from a panic. Nobody else would delete the node.
//
// Promise: A protected create whose hook panics leaves no node.
func TestRecoveredPanicLeavesNoProtectedNode(t *testing.T) {
	for op, call := range map[string]func(c *framework.Client) error{
		"create": func(c *framework.Client) error {
			_, err := c.Create(context.Background(), "/n/a-", nil, framework.WithProtection())
			return err
		},
		"transaction": func(c *framework.Client) error {
			_, err := c.Transaction(context.Background(), framework.CreateOp("/n/a-", nil, framework.WithProtection()))
			return err
		},
	} {
		for _, lost := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, reply lost %v", op, lost), func(t *testing.T) {
				serverOnly(t, func(t *testing.T, srv *zktest.Server) {
					c := newClient(t, srv, framework.WithHooks(panicking(op)))
					require.NoError(t, srv.Create("/n", nil))
					if lost {
						srv.Inject(zktest.Rule{Do: zktest.DropReply()})
					}
					require.PanicsWithValue(t, "hook", func() { _ = call(c) })
					synctest.Wait()
					require.Empty(t, srv.Children("/n"))
				})
			})
		}
	}
}

// Promise: A guaranteed delete whose hook panics deletes the node.
func TestRecoveredPanicLeavesNoNodeToDelete(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithHooks(panickingAtStart("delete")))
		require.NoError(t, srv.Create("/n", nil))
		require.PanicsWithValue(t, "hook", func() {
			_ = c.Delete(context.Background(), "/n", framework.AnyVersion, framework.WithGuarantee())
		})
		synctest.Wait()
		_, there := srv.Node("/n")
		require.False(t, there)
	})
}

// panickingAtStart is panicking for the start of the operation.
type panickingAtStart string

func (p panickingAtStart) StartOperation(ctx context.Context, op clienttrace.Operation) context.Context {
	if op.Name == string(p) {
		panic("hook")
	}
	return ctx
}
