package zkwatcher_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"

	zkwatcher "github.com/gocurator/curator/contrib/casbin"
)

func connect(t *testing.T, srv *zktest.Server) *framework.Client { return curatortest.Connect(t, srv) }

func TestRefusalEndsTheWatcherAndIsTold(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, b := w.instance(t), w.instance(t)
		session, err := b.client.Session(w.Patience(t))
		require.NoError(t, err)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Path: path, Session: session.ID(), Do: zktest.Fail(zktest.ErrNoAuth)})
		require.NoError(t, b.Err())
		require.NoError(t, a.Update())
		<-b.Done()
		require.ErrorIs(t, b.Err(), zk.ErrNoAuth)
		require.ErrorIs(t, b.Update(), zk.ErrNoAuth)
		require.NoError(t, b.client.Close())
		require.Contains(t, b.log.String(), "shared value ends")
	})
}

func TestWatcherEndsWithItsClient(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, b := w.instance(t), w.instance(t)
		require.NoError(t, b.client.Close())
		<-b.Done()
		require.ErrorIs(t, b.Err(), framework.ErrClosed)
		require.ErrorIs(t, b.Update(), framework.ErrClosed)
		b.loads()
		require.NoError(t, a.Update())
		settle()
		require.Zero(t, b.loads())
		b.Close()
	})
}

func TestClosedWatcherLeavesNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, b := w.instance(t), w.process(t)
		b.watch(t, nil) // no callback is ever set
		for range 2 {
			a.Close()
			b.Close()
		}
		<-a.Done()
		require.ErrorIs(t, a.Err(), shared.ErrClosed)
		w.NoWatches(t)
	})
}

// It begins without a server, and calls back when it has read the node.
func TestWatcherBeginsInAnOutage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a := w.process(t)
		w.Stop()
		a.watch(t, a.load)
		require.ErrorIs(t, a.Update(), zkwatcher.ErrPending)
		time.Sleep(time.Minute)
		require.Zero(t, a.loads())
		w.Start()
		time.Sleep(time.Minute)
		require.Equal(t, 1, a.loads())
		require.NoError(t, a.Update())
	})
}

func TestBadArguments(t *testing.T) {
	load := func() error { return nil }
	_, err := zkwatcher.New(nil, path, load)
	require.ErrorIs(t, err, zk.ErrBadArguments)
	inVirtualTime(t, func(t *testing.T, w *world) {
		_, err := zkwatcher.New(w.Observer, "casbin", load)
		require.ErrorIs(t, err, zk.ErrInvalidPath)
		_, err = zkwatcher.New(w.Observer, path, load, nil)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		a := w.instance(t)
		require.ErrorIs(t, a.SetUpdateCallback(nil), zk.ErrBadArguments)
		require.NoError(t, w.Observer.Close())
		_, err = zkwatcher.New(w.Observer, path, load)
		require.ErrorIs(t, err, framework.ErrClosed)
	})
}
