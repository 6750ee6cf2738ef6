package main

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/inspect"
)

// findDeadlock looks at the locks each time that something changes there, until
// there is a deadlock. It needs nothing of the services: the nodes of the locks
// say who they are.
func findDeadlock(ctx context.Context, c *framework.Client) (inspect.Deadlock, error) {
	for _, err := range c.Watch(ctx, root, framework.WithRecursion()) {
		if err != nil {
			return inspect.Deadlock{}, err
		}
		graph, err := inspect.WaitGraph(ctx, c, []string{root})
		if err != nil {
			return inspect.Deadlock{}, err
		}
		if len(graph.Deadlocks) > 0 {
			return graph.Deadlocks[0], nil
		}
	}
	return inspect.Deadlock{}, context.Cause(ctx)
}
