package nodes_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/nodes"
)

// Every call of the user's code on the goroutine of a caller does not return in
// turn.
func TestCallThatDoesNotReturnLeavesNoNode(t *testing.T) {
	locktest.NoReturn(t, func(_ *testing.T, ctx context.Context, c *framework.Client) (err error) {
		n, err := nodes.NewPersistentNode(c, "/n", []byte("a"))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, n.Shutdown(ctx)) }()
		if _, err := n.WaitRegistered(ctx); err != nil {
			return err
		}
		return n.Set(ctx, []byte("b"))
	})
}
