package framework_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// hangsUp makes a server end the connection whenever it gets such a request.
func hangsUp(srv *zktest.Server, op zktest.Op, path string) *zktest.Injection {
	return srv.Inject(zktest.Rule{Op: op, Path: path, Times: -1, Do: zktest.DropRequest()})
}

// suspectClient returns a connected client, and the lines of its log about
// requests on which servers hang up.
func suspectClient(t *testing.T, srv *zktest.Server, opts ...framework.Option) (c *framework.Client, lines func() []string) {
	t.Helper()
	j := &journal{}
	c = newClient(t, srv, append(opts, j.option())...)
	require.NoError(t, c.WaitConnected(t.Context()))
	return c, func() (all []string) {
		synctest.Wait()
		for _, line := range j.warnings() {
			if strings.Contains(line, "end the connection whenever") {
				all = append(all, line)
			}
		}
		return all
	}
}

// suspensions counts how often the connection was interrupted.
func suspensions(h *history) (n int) {
	for _, s := range h.seen() {
		if s == state.Suspended {
			n++
		}
	}
	return n
}

// A program that tries again and again, as recipes do, interrupts the others
// more and more seldom.
func TestRequestThatMakesServersHangUpIsNamedAndHeldBack(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, lines := suspectClient(t, srv)
		mustCreate(t, c, "/poison", "")
		hits := hangsUp(srv, zktest.OpSetData, "/poison")
		h := observe(t, c)
		var err error
		for begin := time.Now(); time.Since(begin) < time.Minute; {
			_, err = c.Set(t.Context(), "/poison", []byte("data"), framework.AnyVersion)
			require.Error(t, err)
			require.True(t, framework.IsConnectionError(err))
		}
		require.LessOrEqual(t, hits.Hits(), 12)
		require.Equal(t, hits.Hits(), suspensions(h))
		require.ErrorContains(t, err, "connections have ended with this request under way: setData /poison, 31 bytes")
		require.Len(t, lines(), 1)
		require.Contains(t, lines()[0], "curator.operation=setData curator.znode.path=/poison curator.request.size=31")

		hits.Remove()
		begin := time.Now()
		_, err = c.Set(t.Context(), "/poison", []byte("dat"), framework.AnyVersion)
		require.NoError(t, err, "it is shorter, and so another request")
		require.Zero(t, time.Since(begin))
		time.Sleep(2 * time.Minute)
		for range 2 {
			begin = time.Now()
			_, err = c.Set(t.Context(), "/poison", []byte("data"), framework.AnyVersion)
			require.NoError(t, err)
			require.Zero(t, time.Since(begin), "an answer clears it")
		}
	})
}

// Requests that are only under way when others break the connection are not held
// back with them, and not named.
func TestRequestsBesideOneThatMakesServersHangUpGoOn(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, lines := suspectClient(t, srv)
		mustCreate(t, c, "/poison", "")
		hangsUp(srv, zktest.OpSetData, "/poison")
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Times: -1, Do: zktest.DelayReply(50 * time.Millisecond)})
		ctx := within(t, time.Minute)
		var all sync.WaitGroup
		all.Go(func() {
			for ctx.Err() == nil {
				c.Set(ctx, "/poison", nil, framework.AnyVersion)
			}
		})
		reads := 0
		all.Go(func() {
			for ctx.Err() == nil {
				if _, _, err := c.Get(ctx, "/"); err == nil {
					reads++
				}
			}
		})
		all.Wait()
		require.Greater(t, reads, 1000, "of 1,200")
		require.Len(t, lines(), 1)
		require.Contains(t, lines()[0], "setData")
	})
}

// A network that breaks all the time is no matter of the requests.
func TestRequestIsNotHeldBackWhenTheNetworkWasBroken(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, lines := suspectClient(t, srv)
		slow := srv.Inject(zktest.Rule{Op: zktest.OpGetData, Times: -1, Do: zktest.DelayReply(time.Second)})
		ctx := within(t, 10*time.Second)
		var network sync.WaitGroup
		network.Go(func() {
			for ctx.Err() == nil {
				time.Sleep(100 * time.Millisecond)
				srv.CutAll()
			}
		})
		_, _, err := c.Get(ctx, "/")
		require.Error(t, err)
		network.Wait()
		slow.Remove()
		begin := time.Now()
		_, _, err = c.Get(t.Context(), "/")
		require.NoError(t, err)
		require.LessOrEqual(t, time.Since(begin), 5*time.Second)
		require.Empty(t, lines())
	})
}

func TestServersThatHangUpOnContainersGetPersistentParents(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, lines := suspectClient(t, srv)
		hits := hangsUp(srv, zktest.OpCreateContainer, "")
		begin := time.Now()
		mustCreate(t, c, "/a/b/c", "", framework.WithParents())
		require.Less(t, time.Since(begin), 5*time.Second)
		require.LessOrEqual(t, hits.Hits(), 6)
		require.Len(t, lines(), 1)
		require.Contains(t, lines()[0], "curator.operation=createContainer curator.znode.path=/a curator.request.size=49")
		before := hits.Hits()
		mustCreate(t, c, "/d/e", "", framework.WithParents())
		require.Equal(t, before, hits.Hits(), "it is known by now")
	})
}

// The servers may be newer a day later. If they are not, one connection is enough
// to know that.
func TestContainersAreTriedAgainADayLater(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, lines := suspectClient(t, srv, framework.WithSessionTimeout(40*time.Second))
		hits := hangsUp(srv, zktest.OpCreateContainer, "")
		asks := func(path string) int {
			srv.ClearRequests()
			mustCreate(t, c, path+"/n", "", framework.WithParents())
			return srv.CountRequests(zktest.OpCreateContainer)
		}
		require.Greater(t, asks("/a"), 1)
		time.Sleep(23 * time.Hour)
		require.Zero(t, asks("/b"), "it is known")
		time.Sleep(2 * time.Hour)
		require.Equal(t, 1, asks("/c"))
		require.Zero(t, asks("/d"), "it is known again")
		require.Len(t, lines(), 1)
		hits.Remove()
		time.Sleep(25 * time.Hour)
		require.Equal(t, 1, asks("/e"))
		require.Equal(t, 1, asks("/f"))
	})
}

// Parents that are persistent stay for ever. So an accident makes them so for a
// day, and a second accident, much later, not at once again.
func TestAnswerToAContainerClearsWhatWasKnown(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, lines := suspectClient(t, srv, framework.WithSessionTimeout(40*time.Second))
		hits := hangsUp(srv, zktest.OpCreateContainer, "")
		asks := func(path string) int {
			srv.ClearRequests()
			mustCreate(t, c, path+"/n", "", framework.WithParents())
			return srv.CountRequests(zktest.OpCreateContainer)
		}
		require.Greater(t, asks("/a"), 1)
		hits.Remove()
		time.Sleep(time.Hour)
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.DropRequest()}) // nothing else is suspicious then
		_, _, err := c.Get(t.Context(), "/")
		require.NoError(t, err)
		time.Sleep(24 * time.Hour)
		require.Equal(t, 1, asks("/b"), "and it is answered")
		time.Sleep(24 * time.Hour)
		srv.Inject(zktest.Rule{Op: zktest.OpCreateContainer, Do: zktest.DropRequest()})
		require.Equal(t, 2, asks("/c"), "it was an accident")
		require.Equal(t, 1, asks("/d"))
		require.Len(t, lines(), 1)
	})
}

// A connection that ends with other requests, too, is no proof against one of
// them.
func TestAccidentADayLaterDoesNotRenewWhatWasKnown(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, _ := suspectClient(t, srv, framework.WithSessionTimeout(40*time.Second))
		hits := hangsUp(srv, zktest.OpCreateContainer, "")
		mustCreate(t, c, "/a/n", "", framework.WithParents())
		hits.Remove()
		time.Sleep(25 * time.Hour)
		srv.Inject(zktest.Rule{Op: zktest.OpCreateContainer, Do: zktest.DelayReply(time.Second)})
		srv.ClearRequests()
		var all sync.WaitGroup
		all.Go(func() { mustCreate(t, c, "/b/n", "", framework.WithParents()) })
		synctest.Wait()
		require.Equal(t, 1, srv.CountRequests(zktest.OpCreateContainer))
		all.Go(func() {
			_, _, err := c.Get(t.Context(), "/")
			require.NoError(t, err)
		})
		synctest.Wait()
		srv.CutAll()
		all.Wait()
		srv.ClearRequests()
		mustCreate(t, c, "/c/n", "", framework.WithParents())
		require.Equal(t, 1, srv.CountRequests(zktest.OpCreateContainer))
	})
}

func TestWithoutContainersParentsArePersistent(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithoutContainers())
		mustCreate(t, c, "/a/b", "", framework.WithParents())
		require.Zero(t, srv.CountRequests(zktest.OpCreateContainer))
	})
}

// It is as if the server had said that it knows no such request, for which
// callers have another way.
func TestServersThatHangUpOnPersistentWatchesHaveNone(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, lines := suspectClient(t, srv)
		hits := hangsUp(srv, zktest.OpAddWatch, "")
		begin := time.Now()
		_, err := c.NewWatcher(t.Context(), "/n")
		require.ErrorIs(t, err, &framework.ServerError{Code: -6})
		require.ErrorContains(t, err, "connections have ended with this request under way: addWatch /n, 18 bytes")
		require.Less(t, time.Since(begin), 10*time.Second)
		require.LessOrEqual(t, hits.Hits(), 6)
		require.Len(t, lines(), 1)
		_, err = c.NewWatcher(t.Context(), "/m")
		require.ErrorIs(t, err, &framework.ServerError{Code: -6})
		require.LessOrEqual(t, hits.Hits(), 6)
	})
}

// A network that breaks all the time ends no Watcher.
func TestWatcherOutlastsConnectionsThatEndWithItsRequest(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, lines := suspectClient(t, srv)
		w, err := c.NewWatcher(t.Context(), "/n")
		require.NoError(t, err)
		defer w.Close()
		srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Times: 4, Do: zktest.DropRequest()})
		srv.CutAll()
		ev, err := w.Next(within(t, 10*time.Second))
		require.NoError(t, err)
		require.True(t, ev.Reset)
		require.Empty(t, lines())
	})
}
