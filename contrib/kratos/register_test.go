package kratos_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kratos/kratos/v2/registry"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/testing/zktest"

	zookeeper "github.com/gocurator/curator/contrib/kratos"
)

// kratos's own registry goes on to look at the session, and registers again when
// that is another one.
//
// Promise: A deregistered instance does not come back.
func TestDeregisteredStaysGone(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.process(t)
		require.NoError(t, p.Register(w.Patience(t), replica("a")))
		require.Equal(t, []string{"a"}, w.Fake.Children(folder))
		require.NoError(t, p.Deregister(w.Patience(t), replica("a")))
		require.Empty(t, w.Fake.Children(folder))
		require.NoError(t, p.Deregister(w.Patience(t), replica("a")), "it is gone already")
		for range 3 {
			p.network.Expire(t)
			time.Sleep(time.Minute)
			require.Empty(t, w.Fake.Children(folder))
		}
		require.NoError(t, p.Register(w.Patience(t), replica("a")))
		require.Equal(t, []string{"a"}, w.Fake.Children(folder))
	})
}

// An app that is stopped while its Register waits for a connection ends without an
// error.
//
// Promise: Deregister cancels a Register that has not created its node yet.
func TestDeregisterBeforeTheFolder(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.process(t)
		heal := p.network.Isolate()
		done := make(chan error, 1)
		go func() { done <- p.Register(w.Patience(t), replica("a")) }()
		other := make(chan error, 1)
		go func() { other <- p.Register(w.Patience(t), replica("b")) }()
		synctest.Wait()
		require.Empty(t, done)
		require.NoError(t, p.Deregister(recipetest.Within(t, time.Second), replica("a")))
		synctest.Wait()
		require.Len(t, done, 1, "it does not wait any more")
		require.NoError(t, <-done)
		heal()
		require.NoError(t, <-other)
		time.Sleep(time.Minute)
		require.Equal(t, []string{"b"}, w.Fake.Children(folder))
	})
}

// Register says why the node is not there, and leaves nothing.
func TestRegisterThatFails(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.process(t)
		refused := w.Fake.Inject(zktest.Rule{
			Op: zktest.OpCreate, Path: folder + "/a", Times: -1, Do: zktest.Fail(zktest.ErrNoAuth),
		})
		require.ErrorIs(t, p.Register(w.Patience(t), replica("a")), zk.ErrNoAuth)
		refused.Remove()
		time.Sleep(time.Minute)
		require.Empty(t, w.Fake.Children(folder))

		heal := p.network.Isolate()
		begin := time.Now()
		err := p.Register(recipetest.Within(t, time.Minute), replica("a"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, framework.ErrNotConnected)
		require.Equal(t, time.Minute, time.Since(begin))
		done := make(chan error, 1)
		go func() { done <- p.Register(w.Patience(t), replica("b")) }()
		time.Sleep(time.Hour)
		require.Empty(t, done, "it waits as long as its context")
		heal()
		require.NoError(t, <-done)
		time.Sleep(time.Minute)
		require.Equal(t, []string{"b"}, w.Fake.Children(folder))
		require.NoError(t, p.Register(w.Patience(t), replica("a")))

		require.NoError(t, p.client.Close())
		require.ErrorIs(t, p.Register(w.Patience(t), replica("a")), framework.ErrClosed)
		require.NoError(t, p.Deregister(w.Patience(t), replica("a")))
		require.Empty(t, w.Fake.Children(folder))
	})
}

// An instance that is registered twice is updated in place.
func TestRegisterAgainUpdates(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.process(t)
		require.NoError(t, p.Register(w.Patience(t), replica("a")))
		was, _ := w.Fake.Node(folder + "/a")
		watcher := w.watch(t, p)
		require.Equal(t, []string{"a"}, next(t, watcher))
		other := replica("a")
		other.Metadata["zone"] = "c"
		require.NoError(t, p.Register(w.Patience(t), other))
		now, _ := w.Fake.Node(folder + "/a")
		require.Equal(t, was.Stat.Czxid, now.Stat.Czxid)
		list, err := watcher.Next()
		require.NoError(t, err)
		require.Equal(t, []*registry.ServiceInstance{other}, list)
		require.NoError(t, p.Deregister(w.Patience(t), replica("a")))
		require.Empty(t, w.Fake.Children(folder))
	})
}

func TestWhatCannotBeUsed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.process(t)
		ctx := w.Patience(t)
		with := func(change func(*registry.ServiceInstance)) *registry.ServiceInstance {
			i := replica("a")
			change(i)
			return i
		}
		for name, i := range map[string]*registry.ServiceInstance{
			"nil":           nil,
			"no ID":         with(func(i *registry.ServiceInstance) { i.ID = "" }),
			"no name":       with(func(i *registry.ServiceInstance) { i.Name = "" }),
			"two nodes":     with(func(i *registry.ServiceInstance) { i.ID = "a/b" }),
			"another path":  with(func(i *registry.ServiceInstance) { i.Name = "../services" }),
			"another node":  with(func(i *registry.ServiceInstance) { i.ID = ".." }),
			"no valid text": with(func(i *registry.ServiceInstance) { i.Name = "orders\xff" }),
		} {
			require.Error(t, p.Register(ctx, i), name)
			require.NoError(t, p.Deregister(ctx, i), name)
		}
		require.Empty(t, w.Fake.Children("/microservices"))
		_, err := p.Watch(ctx, "")
		require.ErrorIs(t, err, zk.ErrInvalidPath)
		_, err = p.GetService(ctx, "a//b")
		require.ErrorIs(t, err, zk.ErrInvalidPath)
		for name, r := range map[string]*zookeeper.Registry{
			"client":       zookeeper.New(nil),
			"option":       zookeeper.New(p.client, nil),
			"root":         zookeeper.New(p.client, zookeeper.WithRootPath("services")),
			"no root":      zookeeper.New(p.client, zookeeper.WithRootPath("")),
			"slash":        zookeeper.New(p.client, zookeeper.WithRootPath("/prod/")),
			"registration": zookeeper.New(p.client, zookeeper.WithRegistrationOptions(nil)),
			"directory":    zookeeper.New(p.client, zookeeper.WithDirectoryOptions(nil)),
		} {
			if name != "directory" {
				require.Error(t, r.Register(ctx, replica("a")), name)
			}
			if name != "registration" {
				_, err := r.Watch(ctx, "orders")
				require.Error(t, err, name)
				_, err = r.GetService(ctx, "orders")
				require.Error(t, err, name)
			}
		}
		require.Empty(t, w.Fake.Children(folder))
		for _, path := range []string{"/orders", "/prod"} {
			_, there := w.Fake.Node(path)
			require.False(t, there, path)
		}
		w.NoWatches(t)
	})
}

// Every call of a Registry that New has not made is an error, but for Deregister:
// it has registered nothing.
func TestZeroRegistryCannotBeUsed(t *testing.T) {
	var r zookeeper.Registry
	require.ErrorIs(t, r.Register(t.Context(), replica("a")), zk.ErrBadArguments)
	_, err := r.GetService(t.Context(), "orders")
	require.ErrorIs(t, err, zk.ErrBadArguments)
	_, err = r.Watch(t.Context(), "orders")
	require.ErrorIs(t, err, zk.ErrBadArguments)
	require.ErrorContains(t, err, "must be made by New")
	require.NoError(t, r.Deregister(t.Context(), replica("a")))
}
