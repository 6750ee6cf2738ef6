package nodes_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
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

// A view that does not come says why, once.
func TestLogOfAViewInTrouble(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var log recipetest.Log
		c, _ := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		require.NoError(t, w.Fake.Create("/g", nil))
		view, err := c.Namespace("/g")
		require.NoError(t, err)
		trouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpGetChildren, Path: "/g/workers", Times: -1, Do: zktest.Fail(-1)})
		require.NoError(t, w.Fake.Create("/g/workers", nil))
		next := w.views(t, nodes.NewGroup(view, "/workers"))
		time.Sleep(time.Hour)
		trouble.Remove()
		require.Empty(t, next().Members)
		const line = `msg="view of a group is tried again after an error" curator.znode.path=/g/workers curator.cause="children /workers: `
		require.Equal(t, 1, strings.Count(log.String(), line), log.String())
	})
}

// An error that lasts is told once, also if the connection broke before it came.
func TestLogOfAnErrorThatLastsAfterAnOutageOfANode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var log recipetest.Log
		c, _ := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/a", Do: zktest.DropReply()})
		trouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpExists, Path: "/a", Times: -1, Do: zktest.Fail(-1)})
		n := start(t, c, "/a", "data")
		time.Sleep(time.Hour)
		const line = "persistent node is tried again after an error"
		require.Equal(t, 1, strings.Count(log.String(), line))
		require.Contains(t, log.String(), "zk: system error (-1)")
		trouble.Remove()
		w.ready(t, n)
		trouble = w.Fake.Inject(zktest.Rule{Op: zktest.OpExists, Path: "/a", Times: -1, Do: zktest.Fail(-1)})
		require.NoError(t, w.Fake.Set("/a", nil))
		time.Sleep(time.Hour)
		require.Equal(t, 2, strings.Count(log.String(), line), "it has begun again")
		trouble.Remove()
	})
}
