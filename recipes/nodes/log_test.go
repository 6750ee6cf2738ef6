package nodes_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/recipetest"
	"github.com/gocurator/curator/recipes/nodes"
)

// The log has a line for each registration, loss, conflict and end of a node,
// and names the other session.
func TestLogOfANode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var log recipetest.Log
		c, _ := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		view, err := c.Namespace("/ns")
		require.NoError(t, err)
		n := start(t, view, "/a", "data", nodes.WithConflictPolicy(nodes.Fail))
		w.ready(t, n)
		settle()
		require.NoError(t, w.Fake.Set("/ns/a", nil))
		settle()
		_, err = w.Observer.Transaction(t.Context(), framework.DeleteOp("/ns/a", framework.AnyVersion),
			framework.CreateOp("/ns/a", nil, framework.WithMode(framework.Ephemeral)))
		require.NoError(t, err)
		<-n.Done()
		settle()
		var lines []string
		for line := range strings.Lines(log.String()) {
			if _, text, ours := strings.Cut(line, `msg="persistent node `); ours {
				lines = append(lines, text)
			}
		}
		require.Len(t, lines, 5)
		for i, want := range []string{
			`registered" curator.znode.path=/ns/a curator.session.id=0x`,
			`was written by somebody else" curator.znode.path=/ns/a`,
			`lost" curator.znode.path=/ns/a curator.cause="node was deleted by somebody else"`,
			`is in conflict with another node" curator.znode.path=/ns/a curator.znode.owner=0x`,
			`ends" curator.znode.path=/ns/a curator.cause="somebody else's node is in the way: /a of session 0x`,
		} {
			require.Contains(t, lines[i], want)
		}
	})
}
