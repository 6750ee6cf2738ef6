package nodes_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// A Leave, or a Join, that gives up leaves a node for a while. The group does
// not list it as a stranger: it is neither oneself nor another member.
func TestNodeOfALeaveThatGaveUpIsNoStranger(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		g := nodes.NewGroup(c, "/g")
		m := w.join(t, g, "a", "1")
		next := w.views(t, g)
		require.Equal(t, []string{"a=1*"}, text(next().Members))
		w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Times: 3, Do: zktest.Fail(zktest.ErrSystem)})
		require.ErrorIs(t, m.Leave(recipetest.Within(t, time.Millisecond)), context.DeadlineExceeded)
		require.Empty(t, text(next().Members), "it has left")
		_, there := w.Fake.Node("/g/a")
		require.True(t, there)
		own, err := g.Members(t.Context())
		require.NoError(t, err)
		require.NotContains(t, text(own), "a=1", "no stranger")
		require.NotContains(t, text(own), "a=1*", "it has left")
		other, err := nodes.NewGroup(c, "/g").Members(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"a=1"}, text(other), "another Group has not joined")
		require.NoError(t, m.Leave(t.Context()), "when the server is well again")
		settle()
		require.Equal(t, "-", w.dataOf("/g/a"))

		again := w.join(t, g, "a", "2")
		own, err = g.Members(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"a=2*"}, text(own))
		require.NoError(t, m.Leave(t.Context()), "a late one of the first membership")
		own, err = g.Members(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"a=2*"}, text(own))
		require.NoError(t, again.Leave(t.Context()))
	})
}
