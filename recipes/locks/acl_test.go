package locks_test

import (
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// Curator tests this in TestLockACLs. The lock's parents and its contenders
// have the ACLs that the provider gives for their paths.
func TestNodesOfALockHaveTheProvidersACLs(t *testing.T) {
	const parents, contenders = zk.PermAll &^ zk.PermAdmin, zk.PermAll &^ zk.PermWrite
	provider := func(path string) []zk.ACL {
		if strings.Contains(path, "/_c_") {
			return zk.WorldACL(contenders)
		}
		return zk.WorldACL(parents)
	}
	for _, kind := range kindsOfLocks {
		t.Run(kind.name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.Patience(t)
				c, _ := w.Connect(t, framework.WithACLProvider(provider))
				take, after := kind.taker(t, c)
				lease := must(take(ctx))(t)
				seen := map[int32]int{}
				for _, node := range w.Fake.Tree() {
					want := provider(node.Path)[0].Perms
					require.Equal(t, []zktest.ACL{{Perms: want, Scheme: "world", ID: "anyone"}}, node.ACL, node.Path)
					seen[want]++
				}
				require.Positive(t, seen[parents])
				require.Positive(t, seen[contenders])
				require.NoError(t, lease.Release(ctx))
				after()
			})
		})
	}
}

// Since CVE-2024-23944 a server does not tell a client of the end of a node
// that the client may not read, even if the client has asked for the node's
// existence. An acquire must not wait for that event.
func TestNodesThatMayNotBeRead(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		parent := path + "/mutex"
		c1, _ := w.Connect(t, framework.WithACLProvider(func(of string) []zk.ACL {
			if of == path || of == parent {
				return zk.WorldACL(zk.PermAll)
			}
			return zk.WorldACL(zk.PermAll &^ zk.PermRead)
		}))
		c2, _ := w.Connect(t)
		holder := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c1, parent))

		m := locks.NewInterProcessMutex(c2, parent)
		_, err := m.Acquire(ctx)
		require.ErrorIs(t, err, zk.ErrNoAuth)
		_, err = m.TryAcquire(ctx) // TryAcquire does not wait
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		w.WaitNodes(t, parent, 1)
		require.NoError(t, holder.Release(ctx))
		require.NoError(t, locktest.Acquire(t, ctx, m).Release(ctx))
		w.NothingLeft(t, parent)
	})
}
