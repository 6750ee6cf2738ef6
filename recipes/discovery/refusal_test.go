package discovery_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/testing/zktest"
)

// A directory that is refused from the beginning was not filled, and is as of no
// transaction. Readers of Changes hear of the refusal.
func TestRefusalFromTheBeginningIsTold(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", 1))))
		c, _ := w.Connect(t)
		for _, op := range []zktest.Op{zkinside.OpGetChildren2, zkinside.OpMultiRead, zktest.OpGetData} {
			w.Fake.Inject(zktest.Rule{Optional: true, Op: op, Session: c.SessionID(), Times: -1, Do: zktest.Fail(zktest.ErrNoAuth)})
		}
		d, err := discovery.NewDirectory(c, base, plain{}, "orders")
		require.NoError(t, err)
		defer d.Close()
		news := follow(t, d)
		passGrace()
		require.ErrorIs(t, d.Snapshot().Err, zk.ErrNoAuth)
		require.Equal(t, []string{"interrupted"}, news())
		require.Zero(t, d.Snapshot().Zxid)
		require.ErrorIs(t, d.WaitFor(recipetest.Within(t, time.Minute), w.Fake.Stats().Zxid), zk.ErrNoAuth)
		require.ErrorIs(t, d.WaitSynced(recipetest.Within(t, time.Minute)), zk.ErrNoAuth)
	})
}

// A client that may read nothing any more keeps what it has, also without a removal
// grace, and instances that drain, which go at once when their nodes do.
func TestRefusalOfEverythingKeepsWhatGoesAtOnce(t *testing.T) {
	for name, port := range map[string]int{"drains": 1, "no grace": 2} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				i, grace := replica("a", port), time.Duration(0)
				if i.Disabled = name == "drains"; i.Disabled {
					grace = time.Second
				}
				require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, i)))
				c, network := w.Connect(t)
				d := w.directory(t, c, discovery.WithRemovalGrace(grace))
				since := d.Snapshot().Entries[0].Since
				owner, _ := w.Connect(t)
				require.NoError(t, owner.AddAuth(t.Context(), "digest", []byte("a:b")))
				paths := []string{base + "/orders/a", base + "/orders"}
				for _, path := range paths {
					_, err := owner.SetACL(t.Context(), path, zk.DigestACL(zk.PermAll, "a", "b"), -1)
					require.NoError(t, err)
				}
				network.Cut()
				passGrace()
				require.ErrorIs(t, d.Snapshot().Err, zk.ErrNoAuth)
				require.Len(t, names(d), 1)

				for _, path := range paths {
					_, err := owner.SetACL(t.Context(), path, zk.WorldACL(zk.PermAll), -1)
					require.NoError(t, err)
				}
				network.Cut()
				passGrace()
				require.False(t, d.Snapshot().Interrupted)
				require.Len(t, names(d), 1)
				require.Equal(t, since, d.Snapshot().Entries[0].Since)
			})
		})
	}
}

// An instance that went while nothing could be read is gone when it can be.
func TestInstanceThatGoesDuringARefusal(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", 1))))
		c, network := w.Connect(t)
		d := w.directory(t, c, discovery.WithRemovalGrace(0))
		refusal := w.Fake.Inject(zktest.Rule{
			Op: zkinside.OpGetChildren2, Session: c.SessionID(), Times: -1, Do: zktest.Fail(zktest.ErrNoAuth),
		})
		together := w.Fake.Inject(zktest.Rule{
			Op: zkinside.OpMultiRead, Session: c.SessionID(), Times: -1, Do: zktest.Fail(zktest.ErrNoAuth),
		})
		network.Cut()
		require.NoError(t, w.Fake.Create(base+"/orders/b", data(t, replica("b", 1))))
		require.NoError(t, w.Fake.Delete(base+"/orders/a"))
		passGrace()
		require.ErrorIs(t, d.Snapshot().Err, zk.ErrNoAuth)
		require.Contains(t, names(d), "a:1")
		refusal.Remove()
		together.Remove()
		network.Cut()
		passGrace()
		require.Equal(t, []string{"b:1"}, names(d))
	})
}

// A server that fails to read a node says nothing of the instance. It stays as it
// was until its node is read again, or is gone.
//
// Promise: An instance whose node a server fails to read stays in the directory.
func TestInstanceWhoseNodeAServerFailsToReadStays(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", 1))))
		c, network := w.Connect(t)
		d := w.directory(t, c)
		news := follow(t, d)
		settle()
		require.Len(t, news(), 2)
		sick := zktest.Rule{Op: zktest.OpGetData, Path: base + "/orders/a", Session: c.SessionID(), Times: -1, Do: zktest.Fail(-1)}
		trouble := w.Fake.Inject(sick)
		require.NoError(t, w.Fake.Set(base+"/orders/a", data(t, replica("a", 2))))
		passGrace()
		require.Equal(t, []string{"a:1"}, names(d))
		require.Equal(t, []string{"malformed a"}, news())
		require.Len(t, d.Snapshot().Bad, 1)

		trouble.Remove()
		network.Cut()
		passGrace()
		require.Equal(t, []string{"a:2"}, names(d))
		require.Empty(t, d.Snapshot().Bad)

		sick.Session = c.SessionID()
		trouble = w.Fake.Inject(sick)
		require.NoError(t, w.Fake.Set(base+"/orders/a", data(t, replica("a", 3))))
		passGrace()
		require.Equal(t, []string{"a:2"}, names(d))
		trouble.Remove()
		require.NoError(t, w.Fake.Delete(base+"/orders/a"))
		passGrace()
		require.Empty(t, names(d))
		require.Empty(t, d.Snapshot().Bad)
	})
}

// A node that another process has made while a server failed to read it is another
// instance, if it is at another address, or if there is no removal grace: the czxid
// of the first one is not its own.
//
// Promise: An instance that was replaced while its node could not be read is reported as a different instance.
func TestInstanceThatIsReplacedWhileAServerFailsToReadIt(t *testing.T) {
	for name, port := range map[string]int{"other address": 2, "same address": 1, "no grace": 1} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", 1))))
				c, network := w.Connect(t)
				grace := time.Second
				if name == "no grace" {
					grace = 0
				}
				d := w.directory(t, c, discovery.WithRemovalGrace(grace))
				first := d.Snapshot().Entries[0].Since
				news := follow(t, d)
				settle()
				news()
				trouble := w.Fake.Inject(zktest.Rule{
					Op: zktest.OpGetData, Path: base + "/orders/a", Session: c.SessionID(), Times: -1, Do: zktest.Fail(-1),
				})
				require.NoError(t, w.Fake.Set(base+"/orders/a", data(t, replica("a", 1))))
				passGrace()
				require.Equal(t, []string{"malformed a"}, news())
				require.NoError(t, w.Fake.Delete(base+"/orders/a"))
				require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", port))))
				settle() // the reader has failed once more
				trouble.Remove()
				network.Refuse(true) // otherwise the reader may hear of the interruption when it is over
				network.Cut()
				settle()
				network.Refuse(false)
				time.Sleep(10 * time.Second)
				passGrace()
				since := d.Snapshot().Entries[0].Since
				if name == "same address" {
					require.Equal(t, []string{"interrupted", "synced"}, news())
					require.Equal(t, first, since)
					return
				}
				require.Equal(t, []string{"interrupted", "removed a:1", fmt.Sprint("added a:", port), "synced"}, news())
				require.Greater(t, since, first)
			})
		})
	}
}
