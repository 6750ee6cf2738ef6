package recipes_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
)

// exitingReads is a hook that ends the goroutines that ask for one node.
type exitingReads struct{ path string }

func (e *exitingReads) StartOperation(ctx context.Context, op clienttrace.Operation) context.Context {
	if op.Path == e.path {
		runtime.Goexit()
	}
	return ctx
}

func (*exitingReads) EndOperation(context.Context, clienttrace.OperationEnd) {}

// The user's code ends the goroutine that reads one of many nodes. That node is
// not left out: it was not found to be gone.
//
// Promise: A read that does not return does not report its node as gone.
func TestReadThatDoesNotReturnFindsNothingGone(t *testing.T) {
	walk := func(ctx context.Context, c *framework.Client) error {
		for _, err := range inspect.Walk(ctx, c, "/") {
			if err != nil {
				return err
			}
		}
		return nil
	}
	for name, test := range map[string]struct {
		lists func(ctx context.Context, c *framework.Client) error
		whose func(group, lock string) string
	}{
		"members of a group": {
			func(ctx context.Context, c *framework.Client) error {
				_, err := nodes.NewGroup(c, "/g").Members(ctx)
				return err
			},
			func(group, _ string) string { return group },
		},
		"participants": {
			func(ctx context.Context, c *framework.Client) error {
				_, err := locks.NewInterProcessMutex(c, "/l").Participants(ctx)
				return err
			},
			func(_, lock string) string { return lock },
		},
		"visits of a walk": {walk, func(group, _ string) string { return group }},
		"reads of a walk":  {walk, func(_, lock string) string { return lock }},
	} {
		t.Run(name, func(t *testing.T) {
			recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
				exiting := &exitingReads{}
				c, _ := w.Connect(t, framework.WithHooks(exiting))
				_, err := nodes.NewGroup(w.Observer, "/g").Join(w.Patience(t), "m", nil)
				require.NoError(t, err)
				lease := locktest.Acquire(t, w.Patience(t), locks.NewInterProcessMutex(w.Observer, "/l"))
				require.NoError(t, test.lists(w.Patience(t), c))
				exiting.path = test.whose("/g/m", lease.Path())
				require.ErrorContains(t, test.lists(w.Patience(t), c), "has ended its goroutine")
			})
		})
	}
}
