package nodes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/nodes"
)

// These are scenarios of Java Curator's tests.

// Data that is set right after NewPersistentNode, before there is a node, is the
// node's.
func TestSetRightAfterNewPersistentNode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n := start(t, c, "/a", "one")
		require.NoError(t, n.Set(w.Patience(t), []byte("two")))
		require.Equal(t, "two", w.dataOf("/a"))
		settle()
		require.Equal(t, "two", w.dataOf("/a"))
	})
}

// A namespace is taken away once from paths that begin with its text.
func TestNodesInANamespaceHaveItsPaths(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		view, err := c.Namespace("/a")
		require.NoError(t, err)
		n := start(t, view, "/a/a", "1", nodes.WithProtection())
		r := w.ready(t, n)
		require.Regexp(t, "^/a/_c_.*-a$", r.Path)
		require.Equal(t, "1", w.dataOf("/a"+r.Path))

		g := nodes.NewGroup(view, "/a/g")
		next := w.views(t, g)
		require.Empty(t, next().Members)
		m := w.join(t, g, "a", "2")
		require.Equal(t, []string{"a=2*"}, text(next().Members))
		require.Equal(t, "2", w.dataOf("/a/a/g/a"))
		members, err := g.Members(t.Context())
		require.NoError(t, err)
		require.Equal(t, "/a/g/a", members[0].Path)
		require.NoError(t, m.Leave(t.Context()))
		require.Empty(t, next().Members)
	})
}
