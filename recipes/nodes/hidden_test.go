package nodes_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// hide makes an ephemeral node that nobody else may read.
func (w *world) hide(t *testing.T, path string) (owner *framework.Client) {
	t.Helper()
	owner, _ = w.Connect(t, framework.WithAuth("digest", []byte("other:secret")))
	_, err := owner.Create(w.Patience(t), path, nil, framework.WithMode(framework.Ephemeral), framework.WithACL(zk.AuthACL(zk.PermAll)))
	require.NoError(t, err)
	return owner
}

// A node in the way that the client may not read, as newer servers say, ends the
// persistent node, whatever its policy. Shutdown leaves the other node alone.
func TestNodeThatMayNotBeReadEndsItsRival(t *testing.T) {
	for _, policy := range []nodes.ConflictPolicy{nodes.Wait, nodes.Fail, nodes.Replace} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			owner := w.hide(t, "/n")
			c, _ := w.Connect(t)
			n := start(t, c, "/n", "ours", nodes.WithConflictPolicy(policy))
			_, err := n.WaitRegistered(w.Patience(t))
			require.ErrorIs(t, err, zk.ErrNoAuth)
			require.NoError(t, n.Shutdown(w.Patience(t)), "there is nothing to delete")
			require.Equal(t, owner.SessionID(), w.ownerOf("/n"))
		})
	}
}

// Servers before 3.8.4 say whose a node is that may not be read.
func TestOwnerWaitsForANodeThatMayNotBeRead(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, base *recipetest.World) {
		w := &world{base}
		owner := w.hide(t, "/n")
		c, _ := w.Connect(t)
		n := start(t, c, "/n", "ours")
		_, err := n.WaitRegistered(recipetest.Within(t, time.Hour))
		require.ErrorIs(t, err, nodes.ErrConflict)
		require.NoError(t, owner.Close())
		_, err = n.WaitRegistered(recipetest.Within(t, recipetest.Untold))
		require.NoError(t, err)
		require.Equal(t, "ours", w.dataOf("/n"))
	}, zkinside.With(zkinside.Settings{Version38: true}).(zktest.Option))
}

// A node whose ACL keeps its owner out is no conflict: the PersistentNode ends, and
// says why.
func TestNodeThatItsOwnerMayNotReadEnds(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n := start(t, c, "/n", "ours", nodes.WithACL(zk.WorldACL(zk.PermDelete)))
		<-n.Done()
		require.ErrorIs(t, n.Err(), zk.ErrNoAuth)
		require.NotErrorIs(t, n.Err(), nodes.ErrConflict)
	})
}
