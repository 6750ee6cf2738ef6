package nodes_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/nodes"
)

// These are scenarios of Java Curator's tests.

// The session is killed again and again. Each time there is one node, of the new
// session, with the data.
func TestNodeOutlivesOneSessionAfterTheOther(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n, seen := startFollowed(t, c, "/dir/a", "0")
		r := w.ready(t, n)
		for i := range 10 {
			require.NoError(t, n.Set(t.Context(), fmt.Append(nil, i)))
			w.Fake.Session(r.Session.ID()).Expire()
			<-r.Session.Context().Done()
			next := w.ready(t, n)
			require.Greater(t, next.Czxid, r.Czxid)
			require.Equal(t, next.Session.ID(), w.ownerOf("/dir/a"))
			require.Equal(t, fmt.Sprint(i), w.dataOf("/dir/a"))
			require.Equal(t, []string{"a"}, w.Fake.Children("/dir"))
			r = next
		}
		settle()
		want := []nodes.State{nodes.Registered}
		for range 10 {
			want = append(want, nodes.Lost, nodes.Registered)
		}
		require.Equal(t, want, states(seen()))
	})
}

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

// A node whose connection is gone for long sends nothing but attempts to
// connect, and is there again afterwards.
func TestNodeWithoutAConnectionRests(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		n := start(t, c, "/a", "1")
		r := w.ready(t, n)
		network.Refuse(true)
		network.Cut()
		<-r.Session.Context().Done()
		before := len(w.requests(r.Session.ID()))
		time.Sleep(time.Hour)
		require.Len(t, w.requests(r.Session.ID()), before)
		require.Equal(t, "-", w.dataOf("/a"))
		network.Refuse(false)
		w.ready(t, n)
		synctest.Wait()
		require.Equal(t, c.SessionID(), w.ownerOf("/a"))
	})
}
