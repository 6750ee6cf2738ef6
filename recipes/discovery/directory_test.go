package discovery_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/testing/zktest"
)

// A directory has the instances of its service, ordered by their IDs, and tells
// of each change.
func TestDirectoryFollowsAService(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		b := w.registered(t, w.Observer, replica("b", 2))
		c, _ := w.Connect(t)
		d := w.directory(t, c)
		next := recipetest.Read(t, w.World, d.Changes)
		told := func() string { t.Helper(); return text(next(), nil) }
		require.Equal(t, "added b:2", told())
		require.Equal(t, "synced", told())
		a := w.registered(t, w.Observer, replica("a", 1))
		require.Equal(t, "added a:1", told())
		there, _ := a.Node().Registration()
		require.NoError(t, d.WaitFor(w.Patience(t), there.Czxid))
		s := d.Snapshot()
		require.Equal(t, []string{"a:1", "b:2"}, names(d))
		require.Equal(t, there.Czxid, s.Entries[0].Since)
		require.Equal(t, w.Observer.SessionID(), s.Entries[0].Session)
		require.False(t, s.Interrupted)
		require.GreaterOrEqual(t, s.Zxid, there.Czxid)
		require.NoError(t, b.Update(w.Patience(t), replica("b", 22)))
		require.Equal(t, "updated b:22", told())
		require.NoError(t, b.Shutdown(w.Patience(t)))
		require.Equal(t, "removed b:22", told())
		require.Len(t, d.Instances(), 1)
	})
}

// The end is the last change. What the directory has can still be read, and says
// that it may be old.
func TestDirectoryThatIsClosed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", 1))))
		d := w.directory(t, w.Observer)
		news := follow(t, d)
		settle()
		require.NoError(t, w.Fake.Delete(base+"/orders/a"))
		settle()
		require.NoError(t, d.Close())
		require.ErrorIs(t, d.Err(), discovery.ErrClosed)
		passGrace()
		require.Equal(t, []string{"added a:1", "synced", "interrupted", "end"}, news())
		require.Equal(t, []string{"a:1"}, names(d))
		require.True(t, d.Snapshot().Interrupted)
		require.Empty(t, w.Fake.Watches())
	})
}

// A node that cannot be decoded is told once for each version, and the rest is
// there (B4). A good node that becomes one leaves at once (B5).
func TestBadNodeSpoilsNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.registered(t, w.Observer, replica("a", 1))
		require.NoError(t, w.Fake.Create(base+"/orders/bad", []byte("garbage")))
		c, network := w.Connect(t)
		d := w.directory(t, c)
		news := follow(t, d)
		synctest.Wait()
		require.Equal(t, []string{"added a:1", "malformed bad", "synced"}, news())
		require.Equal(t, base+"/orders/bad", d.Snapshot().Bad[0].Path)
		network.Refuse(true) // a reader may not see an interruption that is over at once
		network.Cut()
		synctest.Wait()
		network.Refuse(false)
		passGrace()
		require.Equal(t, []string{"interrupted", "synced"}, news(), "it is not told again")
		require.NoError(t, w.Fake.Set(base+"/orders/bad", []byte("more garbage")))
		settle()
		require.Equal(t, []string{"malformed bad"}, news())
		require.NoError(t, w.Fake.Set(base+"/orders/bad", data(t, replica("", 3))))
		settle()
		require.Equal(t, []string{"added bad:3"}, news())
		require.NoError(t, w.Fake.Set(base+"/orders/bad", []byte("garbage")))
		settle()
		require.Equal(t, []string{"removed bad:3", "malformed bad"}, news())
		require.NoError(t, w.Fake.Delete(base+"/orders/bad"))
		settle()
		require.Empty(t, news())
		require.Empty(t, d.Snapshot().Bad)
	})
}

// Grandchildren, nodes without data and nested services are no instances, and
// no errors (B7).
func TestOtherNodesAreNoInstances(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", 1))))
		require.NoError(t, w.Fake.Create(base+"/orders/a/grandchild", data(t, replica("x", 9))))
		require.NoError(t, w.Fake.Create(base+"/orders/empty", nil))
		require.NoError(t, w.Fake.Create(base+"/orders/eu", []byte("a directory")))
		require.NoError(t, w.Fake.Create(base+"/orders/eu/b", data(t, replica("b", 2))))
		synctest.Wait()
		d := w.directory(t, w.Observer)
		require.Equal(t, []string{"a:1"}, names(d))
		require.Empty(t, d.Snapshot().Bad)
	})
}

// A reader has no right but to read. The service does not exist yet (B10).
func TestReaderNeedsNoRightToCreate(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpMulti} {
			w.Fake.Inject(zktest.Rule{Optional: true, Op: op, Session: c.SessionID(), Times: -1, Do: zktest.Call(func(r zktest.Request) { t.Error("request", r) })})
		}
		d := w.directory(t, c)
		require.Empty(t, d.Instances())
		require.Empty(t, w.Fake.Children("/services"))
		w.registered(t, w.Observer, replica("a", 1))
		require.NoError(t, d.WaitInstances(w.Patience(t), 1))
		require.Equal(t, []string{"a:1"}, names(d))
	})
}

// Without a connection, a directory keeps what it has and says so, also what was
// about to go.
//
// Promise: A directory keeps its instances during an outage.
func TestInterruptedDirectoryKeepsWhatItHas(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for _, id := range []string{"a", "b"} {
			require.NoError(t, w.Fake.Create(base+"/orders/"+id, data(t, replica(id, 1))))
		}
		c, network := w.Connect(t)
		d := w.directory(t, c)
		news := follow(t, d)
		require.NoError(t, w.Fake.Delete(base+"/orders/b"))
		settle()
		require.Len(t, news(), 3)
		network.Refuse(true)
		network.Cut()
		require.NoError(t, w.Fake.Delete(base+"/orders/a"))
		time.Sleep(time.Minute) // the session is lost, too
		synctest.Wait()
		require.Equal(t, []string{"interrupted"}, news())
		require.Equal(t, []string{"a:1", "b:1"}, names(d))
		require.True(t, d.Snapshot().Interrupted)
		require.NoError(t, w.Fake.Create(base+"/orders/b", data(t, replica("b", 1))))
		network.Refuse(false)
		require.NoError(t, d.WaitFor(w.Patience(t), w.Fake.Stats().Zxid))
		passGrace()
		require.Equal(t, []string{"synced", "removed a:1"}, news())
		require.False(t, d.Snapshot().Interrupted)
	})
}

// A node that may not be read is told once, and is no instance meanwhile.
func TestNodeThatMayNotBeReadIsBad(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		owner, _ := w.Connect(t)
		require.NoError(t, owner.AddAuth(t.Context(), "digest", []byte("a:b")))
		hidden := discovery.WithACL(zk.DigestACL(zk.PermAll, "a", "b"))
		w.registered(t, w.Observer, replica("a", 1))
		r := w.registered(t, owner, replica("b", 2), hidden)
		c, network := w.Connect(t)
		d := w.directory(t, c)
		news := follow(t, d)
		passGrace()
		require.Equal(t, []string{"added a:1", "malformed b", "synced"}, news())
		require.ErrorIs(t, d.Snapshot().Bad[0].Err, zk.ErrNoAuth)
		network.Refuse(true) // a reader may not see an interruption that is over at once
		network.Cut()
		synctest.Wait()
		network.Refuse(false)
		passGrace()
		require.Equal(t, []string{"interrupted", "synced"}, news())
		require.NoError(t, r.Shutdown(w.Patience(t)))
		network.Cut()
		passGrace()
		require.Empty(t, d.Snapshot().Bad)
	})
}

// A service that may not be read spoils nothing for the others.
func TestServiceThatMayNotBeReadIsBad(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", 1))))
		require.NoError(t, w.Fake.Create(base+"/secret/b", data(t, replica("b", 2))))
		c, _ := w.Connect(t)
		w.Fake.Inject(zktest.Rule{
			Op: zkinside.OpGetChildren2, Path: base + "/secret", Session: c.SessionID(), Times: -1, Do: zktest.Fail(zktest.ErrNoAuth),
		})
		d, err := discovery.NewServices(c, base, plain{})
		require.NoError(t, err)
		defer d.Close()
		news := follow(t, d)
		settle()
		require.Equal(t, []string{"added a:1", "malformed secret", "synced"}, news())
		require.ErrorIs(t, d.Snapshot().Bad[0].Err, zk.ErrNoAuth)
		require.NoError(t, w.Fake.Delete(base+"/orders/a"))
		passGrace()
		require.Equal(t, []string{"removed a:1"}, news())
	})
}

// One watch tells of all services, also of those whose names have slashes.
func TestAllServicesWithOneWatch(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", 1))))
		c, _ := w.Connect(t)
		d, err := discovery.NewServices(c, base, plain{})
		require.NoError(t, err)
		defer d.Close()
		require.NoError(t, d.WaitInstances(w.Patience(t), 1))
		require.NoError(t, w.Fake.Create(base+"/orders-eu/b", data(t, replica("b", 2))))
		require.NoError(t, w.Fake.Create(base+"/orders/eu/c", data(t, replica("c", 3))))
		settle()
		s := d.Snapshot()
		require.Equal(t, []string{"orders", "orders-eu", "orders/eu"}, s.Services())
		require.Equal(t, []string{"a:1", "b:2", "c:3"}, names(d))
		require.Equal(t, "c", s.Of("orders/eu")[0].ID)
		require.Len(t, s.Of("orders"), 1)
		require.Empty(t, s.Of("others"))
		require.Len(t, w.Fake.Watches(), 1)
	})
}

// The root of an ensemble has nodes of others, which are neither malformed instances
// nor kept. A namespace has the registry alone.
func TestServicesOfTheRootOfAnEnsemble(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for _, node := range []struct {
			path string
			data []byte
		}{
			{"/orders/a", data(t, replica("a", 1))}, {"/orders/a/deep", []byte("of others")},
			{"/locks/sku/7", []byte("of others")}, {"/zookeeper/of-others/b", []byte("garbage")},
			{"/app/orders/eu/b", data(t, replica("b", 1))},
		} {
			require.NoError(t, w.Fake.Create(node.path, node.data))
		}
		w.Fake.ClearRequests()
		d, err := discovery.NewServices(w.Observer, "/", plain{})
		require.NoError(t, err)
		defer d.Close()
		require.NoError(t, d.WaitSynced(w.Patience(t)))
		require.Empty(t, d.Snapshot().Bad)
		require.Equal(t, []string{"a:1"}, names(d))
		for _, r := range w.Fake.Requests() {
			require.NotContains(t, []string{"/locks/sku/7", "/orders/a/deep", "/zookeeper"}, r.Path)
		}

		app, err := w.Observer.Namespace("app")
		require.NoError(t, err)
		below, err := discovery.NewServices(app, "/", plain{})
		require.NoError(t, err)
		defer below.Close()
		require.NoError(t, below.WaitInstances(w.Patience(t), 1))
		require.Equal(t, []string{"orders/eu"}, below.Snapshot().Services())
	})
}

// Many instances take one watch, and a change of one of them is one update (B11).
func TestManyInstances(t *testing.T) {
	n := thorough.Size(10_000, 500)
	inVirtualTime(t, func(t *testing.T, w *world) {
		for i := range n {
			id := fmt.Sprintf("i%05d", i)
			require.NoError(t, w.Fake.Create(base+"/orders/"+id, data(t, replica(id, 1))))
		}
		d := w.directory(t, w.Observer)
		require.Len(t, d.Instances(), n)
		require.Len(t, w.Fake.Watches(), 1)
		news := follow(t, d)
		settle()
		require.Len(t, news(), n+1)
		before := d.Snapshot()
		w.Fake.ClearRequests()
		require.NoError(t, w.Fake.Set(base+"/orders/i00007", data(t, replica("", 2))))
		settle()
		require.Equal(t, []string{"updated i00007:2"}, news())
		require.LessOrEqual(t, len(w.Requests()), 2)
		require.Equal(t, "i00007:1", name(before.Entries[7]), "a snapshot stays as it is")
		require.Same(t, before.Entries[8], d.Snapshot().Entries[8], "what has not changed is shared")
	})
}

func TestWaitsOfADirectory(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		d := w.directory(t, w.Observer)
		require.ErrorIs(t, d.WaitInstances(recipetest.Within(t, time.Second), 1), context.DeadlineExceeded)
		got := make(chan error, 1)
		go func() { got <- d.WaitInstances(w.Patience(t), 1) }()
		draining := replica("a", 1)
		draining.Disabled = true
		r := w.registered(t, w.Observer, draining)
		settle()
		require.Empty(t, got, "it does not want to be picked")
		require.NoError(t, r.Resume(w.Patience(t)))
		require.NoError(t, <-got)
		require.NoError(t, d.Close())
		require.ErrorIs(t, d.WaitFor(w.Patience(t), w.Fake.Stats().Zxid+100), discovery.ErrClosed)
	})
}

func TestDirectoriesThatCannotBe(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for name, opts := range map[string][]discovery.DirectoryOption{
			"nil":   {nil},
			"grace": {discovery.WithRemovalGrace(-1)},
		} {
			_, err := discovery.NewDirectory(w.Observer, base, plain{}, "orders", opts...)
			require.ErrorIs(t, err, zk.ErrBadArguments, name)
			_, err = discovery.NewServices(w.Observer, base, plain{}, opts...)
			require.ErrorIs(t, err, zk.ErrBadArguments, name)
		}
		for _, service := range []string{"", "a/../b", "a\x00"} {
			_, err := discovery.NewDirectory(w.Observer, base, plain{}, service)
			require.Error(t, err, service)
		}
		for _, base := range []string{"", "services", "/services/"} {
			_, err := discovery.NewDirectory(w.Observer, base, plain{}, "orders")
			require.ErrorIs(t, err, zk.ErrInvalidPath, base)
			_, err = discovery.NewServices(w.Observer, base, plain{})
			require.ErrorIs(t, err, zk.ErrInvalidPath, base)
		}
		_, err := discovery.NewDirectory(w.Observer, base, plain{}, "\x1b[31m\n\u202e")
		require.True(t, printable.Is(err.Error()), "%q", err)
		_, err = discovery.NewDirectory(w.Observer, base, nil, "orders")
		require.ErrorIs(t, err, zk.ErrBadArguments)
		_, err = discovery.NewDirectory(nil, base, plain{}, "orders")
		require.ErrorIs(t, err, zk.ErrBadArguments)
		require.NoError(t, w.Observer.Close())
		_, err = discovery.NewServices(w.Observer, base, plain{})
		require.ErrorIs(t, err, framework.ErrClosed)
	})
}
