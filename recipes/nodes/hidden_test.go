package nodes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
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

// The node in the way may not be read. Newer servers do not say whose it is, and
// none tells of its end.
func TestSecondOwnerWaitsForANodeThatMayNotBeRead(t *testing.T) {
	for name, opts := range map[string][]zktest.Option{"3.9": nil, "3.8.0": {zktest.WithVersion(zktest.Version380)}} {
		t.Run(name, func(t *testing.T) {
			recipetest.InVirtualTime(t, func(t *testing.T, base *recipetest.World) {
				w := &world{base}
				owner := w.hide(t, "/n")
				c, _ := w.Connect(t)
				n := start(t, c, "/n", "ours")
				_, err := n.WaitRegistered(recipetest.Within(t, time.Hour))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorIs(t, err, nodes.ErrConflict)
				require.NoError(t, n.Err())
				require.NoError(t, owner.Close())
				_, err = n.WaitRegistered(recipetest.Within(t, recipetest.Untold))
				require.NoError(t, err)
				require.Equal(t, "ours", w.dataOf("/n"))
				require.NoError(t, n.Shutdown(w.Patience(t)))
			}, opts...)
		})
	}
}

// The conflict is told once, and the node is looked for with pauses of up to
// half a minute.
func TestConflictWithANodeThatMayNotBeReadIsToldOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		owner := w.hide(t, "/n")
		c, _ := w.Connect(t)
		n, seen := startFollowed(t, c, "/n", "ours")
		time.Sleep(time.Hour)
		w.Fake.ClearRequests()
		time.Sleep(time.Hour)
		require.InDelta(t, 120, w.Fake.CountRequests(zktest.OpExists), 5)
		require.NoError(t, owner.Close())
		w.ready(t, n)
		synctest.Wait()
		require.Equal(t, []nodes.State{nodes.Conflict, nodes.Registered}, states(seen()))
		require.ErrorIs(t, seen()[0].Err, zk.ErrNoAuth)
	})
}

func TestOtherPoliciesEndAtANodeThatMayNotBeRead(t *testing.T) {
	for name, policy := range map[string]nodes.ConflictPolicy{"fail": nodes.Fail, "replace": nodes.Replace} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				owner := w.hide(t, "/n")
				c, _ := w.Connect(t)
				n := start(t, c, "/n", "ours", nodes.WithConflictPolicy(policy))
				_, err := n.WaitRegistered(w.Patience(t))
				require.ErrorIs(t, err, nodes.ErrConflict)
				require.ErrorIs(t, err, zk.ErrNoAuth)
				require.NoError(t, n.Shutdown(w.Patience(t)), "there is nothing to delete")
				require.Equal(t, owner.SessionID(), w.ownerOf("/n"))
			})
		})
	}
}

// Shutdown in the middle of the wait leaves the other node alone, and is no
// error.
func TestShutdownWhileANodeThatMayNotBeReadIsInTheWay(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		owner := w.hide(t, "/n")
		c, _ := w.Connect(t)
		n := start(t, c, "/n", "ours")
		time.Sleep(time.Minute)
		require.NoError(t, n.Shutdown(w.Patience(t)))
		require.Equal(t, owner.SessionID(), w.ownerOf("/n"))
	})
}

// A node of ours whose ACL keeps us out is no conflict: it ends, and says why.
func TestNodeThatItsOwnerMayNotReadEnds(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n := start(t, c, "/n", "ours", nodes.WithACL(zk.WorldACL(zk.PermDelete)))
		<-n.Done()
		require.ErrorIs(t, n.Err(), zk.ErrNoAuth)
		require.NotErrorIs(t, n.Err(), nodes.ErrConflict)
	})
}
