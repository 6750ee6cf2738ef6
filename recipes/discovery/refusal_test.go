package discovery_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/testing/zktest"
)

// A directory that is refused from the beginning was not filled, and is as of no
// transaction. Readers of Changes hear of the refusal.
func TestRefusalFromTheBeginningIsTold(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", 1))))
		c, _ := w.Connect(t)
		for _, op := range []zktest.Op{zktest.OpGetChildren2, zktest.OpMultiRead, zktest.OpGetData} {
			w.Fake.Inject(zktest.Rule{Op: op, Session: c.SessionID(), Times: -1, Do: zktest.Fail(zktest.ErrNoAuth)})
		}
		d, err := discovery.NewDirectory(c, base, plain{}, "orders")
		require.NoError(t, err)
		defer d.Close()
		news := follow(t, d)
		outlastGrace()
		require.ErrorIs(t, d.Snapshot().Err, zk.ErrNoAuth)
		require.Equal(t, []string{"interrupted"}, news())
		require.Zero(t, d.Snapshot().Zxid)
		require.ErrorIs(t, d.WaitFor(recipetest.Within(t, time.Minute), w.Fake.Zxid()), zk.ErrNoAuth)
		require.ErrorIs(t, d.WaitSynced(recipetest.Within(t, time.Minute)), zk.ErrNoAuth)
	})
}

// A refusal that comes while the directory is interrupted is told.
func TestRefusalDuringAnInterruptionIsTold(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", 1))))
		c, network := w.Connect(t)
		d := w.directory(t, c)
		refusals := 0
		go func() {
			for ch := range d.Changes(t.Context()) {
				if ch.Type == discovery.Interrupted && ch.Err != nil {
					refusals++
				}
			}
		}()
		settle()
		owner, _ := w.Connect(t)
		require.NoError(t, owner.AddAuth(t.Context(), "digest", []byte("a:b")))
		_, err := owner.SetACL(t.Context(), base+"/orders", zk.DigestACL(zk.PermAll, "a", "b"), -1)
		require.NoError(t, err)
		network.Cut()
		outlastGrace()
		require.ErrorIs(t, d.Snapshot().Err, zk.ErrNoAuth)
		require.Equal(t, 1, refusals)
	})
}

// A client that may read nothing any more keeps what it has.
func TestRefusalOfEverythingDoesNotEmptyTheDirectory(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", 1))))
		c, network := w.Connect(t)
		d := w.directory(t, c)
		owner, _ := w.Connect(t)
		require.NoError(t, owner.AddAuth(t.Context(), "digest", []byte("a:b")))
		for _, path := range []string{base + "/orders/a", base + "/orders"} {
			_, err := owner.SetACL(t.Context(), path, zk.DigestACL(zk.PermAll, "a", "b"), -1)
			require.NoError(t, err)
		}
		network.Cut()
		outlastGrace()
		require.True(t, d.Snapshot().Interrupted)
		require.ErrorIs(t, d.Snapshot().Err, zk.ErrNoAuth)
		require.Equal(t, []string{"a:1"}, names(d))
	})
}

// Nodes that may not be read, and are no service's, are told apart by their paths.
func TestUnreadableFoldersOfOneName(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		for _, i := range []string{"a.A", "a.B"} {
			path := "/dubbo/" + i + "/consumers"
			require.NoError(t, w.Fake.Create(path+"/x", nil))
			w.Fake.Inject(zktest.Rule{Op: zktest.OpGetChildren2, Path: path, Session: c.SessionID(), Times: -1, Do: zktest.Fail(zktest.ErrNoAuth)})
		}
		d, err := discovery.NewServices(c, "/dubbo", discovery.DubboInterfaceCodec("tri"))
		require.NoError(t, err)
		defer d.Close()
		settle()
		require.Len(t, d.Snapshot().Bad, 2)
	})
}
