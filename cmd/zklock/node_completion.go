package main

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/znode"
)

// completionPatience is how long somebody who has pressed Tab waits for a
// server.
const completionPatience = 2 * time.Second

// nodesBeginning returns the nodes whose paths begin so, in order, up to the end
// of a level. A path that is complete goes on with the next level. Without an
// answer there are none: there is nobody to tell why.
func nodesBeginning(ctx context.Context, e *env, beginning string) []string {
	if beginning != "" && beginning[0] != '/' {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	c, err := e.connect(ctx)
	if err != nil {
		return nil
	}
	defer c.Close()
	parent, _ := znode.Split(cmp.Or(beginning, "/"))
	found := childrenBeginning(ctx, c, parent, beginning)
	if len(found) == 1 && found[0] == beginning {
		if below := childrenBeginning(ctx, c, beginning, beginning); len(below) > 0 {
			return below
		}
	}
	return found
}

func childrenBeginning(ctx context.Context, c *framework.Client, parent, beginning string) (found []string) {
	names, _, _ := c.Children(ctx, parent)
	for _, name := range names {
		if node := znode.Join(parent, name); strings.HasPrefix(node, beginning) {
			found = append(found, node)
		}
	}
	slices.Sort(found)
	return found
}
