package framework_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/testing/zktest"
)

// follower reads a node, and again whenever its watch has ended.
type follower struct {
	mu      sync.Mutex
	data    string
	unknown int // how many of its watches have ended without an event of the server
}

func follow(t *testing.T, c *framework.Client, path string) *follower {
	t.Helper()
	f := &follower{}
	go func() {
		for t.Context().Err() == nil {
			data, _, w, err := c.GetW(t.Context(), path)
			if err != nil {
				continue
			}
			f.note(func() { f.data = string(data) })
			ev, err := w.Wait(t.Context())
			if err == nil && ev.Type == zk.EventNotWatching {
				f.note(func() { f.unknown++ })
			}
		}
	}()
	synctest.Wait()
	return f
}

func (f *follower) note(what func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	what()
}

// seen returns the data that was read last, and how many watches have ended
// without an event of the server.
func (f *follower) seen() (data string, unknown int) {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.data, f.unknown
}

// looksAfterEachReconnect holds where it is known that the servers do not set
// watches again: the follower's watch ends with each connection, and is set by a
// read. Nothing is asked of the servers in vain.
func (f *follower) looksAfterEachReconnect(t *testing.T, srv *zktest.Server, replays *zktest.Injection) {
	t.Helper()
	asked := replays.Hits()
	_, before := f.seen()
	for i := range 3 {
		data := fmt.Sprint("newer ", i)
		changedMeanwhile(t, srv, "/n", data)
		time.Sleep(10 * time.Second)
		seen, unknown := f.seen()
		require.Equal(t, data, seen)
		require.Equal(t, before+i+1, unknown)
	}
	require.NoError(t, srv.Set("/n", []byte("last")))
	data, _ := f.seen()
	require.Equal(t, "last", data, "it has a watch")
	require.Equal(t, asked, replays.Hits(), "it is known by now")
}

// changedMeanwhile changes a node while nobody is connected.
func changedMeanwhile(t *testing.T, srv *zktest.Server, path, data string) {
	t.Helper()
	srv.RefuseConnections(true)
	srv.CutAll()
	require.NoError(t, srv.Set(path, []byte(data)))
	srv.RefuseConnections(false)
}

func TestServersThatHangUpOnSetWatchesAreWorkedAround(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, lines := suspectClient(t, srv)
		require.NoError(t, srv.Create("/n", []byte("old")))
		f := follow(t, c, "/n")
		hits := hangsUp(srv, zktest.OpSetWatches, "")
		changedMeanwhile(t, srv, "/n", "new")
		time.Sleep(10 * time.Second)
		require.NoError(t, c.Sync(within(t, time.Second), "/"))
		data, _ := f.seen()
		require.Equal(t, "new", data)
		require.Equal(t, 5, hits.Hits(), "four in a row, and one on a connection that held")
		require.Len(t, lines(), 1)
		require.Contains(t, lines()[0],
			"curator.operation=setWatches curator.request.watches=1 curator.request.size=34 curator.connections.ended=5")

		f.looksAfterEachReconnect(t, srv, hits)
		require.Len(t, lines(), 1)
	})
}

// The answer to a setWatches that was not carried out has a newer zxid than the
// changes that it was to tell of.
//
// Promise: A change before a setWatches that fails is still reported.
func TestChangeBeforeASetWatchesThatFailsIsTold(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, _ := suspectClient(t, srv)
		require.NoError(t, srv.Create("/n", []byte("old")))
		f := follow(t, c, "/n")
		throttled := srv.Inject(zktest.Rule{Op: zktest.OpSetWatches, Do: zktest.Fail(zktest.ErrThrottled)})
		changedMeanwhile(t, srv, "/n", "new")
		time.Sleep(10 * time.Second)
		require.Equal(t, 1, throttled.Hits())
		data, unknown := f.seen()
		require.Equal(t, "new", data)
		require.Zero(t, unknown, "the server tells of it")
	})
}

// The next session finds out again: its servers may be others.
func TestNextSessionTriesSetWatches(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, _ := suspectClient(t, srv)
		require.NoError(t, srv.Create("/n", nil))
		f := follow(t, c, "/n")
		hits := hangsUp(srv, zktest.OpSetWatches, "")
		srv.CutAll()
		time.Sleep(10 * time.Second)
		require.Equal(t, 5, hits.Hits())
		hits.Remove()
		srv.Session(c.SessionID()).Expire()
		time.Sleep(10 * time.Second)
		_, before := f.seen()
		srv.ClearRequests()
		srv.CutAll()
		time.Sleep(10 * time.Second)
		require.Equal(t, 1, srv.CountRequests(zktest.OpSetWatches))
		_, unknown := f.seen()
		require.Equal(t, before, unknown)
	})
}

func TestOperationsSayThatConnectionsEndWithSetWatches(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, lines := suspectClient(t, srv, framework.WithRetry(retry.None()))
		require.NoError(t, srv.Create("/n", nil))
		follow(t, c, "/n")
		hangsUp(srv, zktest.OpSetWatches, "")
		srv.Inject(zktest.Rule{Op: zktest.OpSetWatches, Times: -1, Do: zktest.DelayRequest(50 * time.Millisecond)})
		srv.CutAll()
		var all []string
		for begin := time.Now(); time.Since(begin) < 10*time.Second; {
			if _, _, err := c.Get(t.Context(), fmt.Sprint("/", len(all))); framework.IsConnectionError(err) {
				all = append(all, err.Error())
			}
			time.Sleep(10 * time.Millisecond)
		}
		for _, ends := range []int{4, 5} {
			require.Contains(t, strings.Join(all, "\n"), fmt.Sprintf(
				"the last %d connections have ended with this request under way: setWatches, 1 watches, 34 bytes", ends))
		}
		require.Len(t, lines(), 1)
	})
}

// A network that breaks all the time is no matter of the request.
func TestWatchesAreSetAgainWhenTheNetworkWasBroken(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, lines := suspectClient(t, srv)
		require.NoError(t, srv.Create("/n", []byte("old")))
		f := follow(t, c, "/n")
		slow := srv.Inject(zktest.Rule{Op: zktest.OpSetWatches, Times: -1, Do: zktest.DelayReply(time.Second)})
		for range 100 {
			time.Sleep(100 * time.Millisecond)
			srv.CutAll()
		}
		slow.Remove()
		changedMeanwhile(t, srv, "/n", "new")
		time.Sleep(10 * time.Second)
		data, before := f.seen()
		require.Equal(t, "new", data)
		require.Positive(t, before)
		srv.ClearRequests()
		srv.CutAll()
		time.Sleep(10 * time.Second)
		_, unknown := f.seen()
		require.Equal(t, before, unknown)
		require.Equal(t, 1, srv.CountRequests(zktest.OpSetWatches))
		require.Len(t, srv.Watches(), 1)
		require.Empty(t, lines())
	})
}

// limitedClient returns a client of servers with a low limit of a request's
// length, the lines of its log, and how many connections have ended for that.
func limitedClient(t *testing.T, srv *zktest.Server) (c *framework.Client, lines func() []string, ended func() int) {
	t.Helper()
	var ends atomic.Int32
	c, lines = suspectClient(t, srv, framework.WithDialer(
		func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := srv.Dialer()(ctx, network, address)
			return &limitedConn{conn, 4 << 10, &ends}, err
		}))
	return c, lines, func() int { return int(ends.Load()) }
}

func watchedName(i int) string { return fmt.Sprintf("/%s-%d", strings.Repeat("x", 100), i) }

func TestSetWatchesThatIsTooLongIsWorkedAround(t *testing.T) {
	const many = 100
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, lines, ended := limitedClient(t, srv)
		var all []*follower
		for i := range many {
			require.NoError(t, srv.Create(watchedName(i), nil))
			all = append(all, follow(t, c, watchedName(i)))
		}
		for range 3 {
			srv.CutAll()
			time.Sleep(3 * untold)
		}
		require.Len(t, lines(), 1)
		require.Contains(t, lines()[0], "curator.request.watches=100")
		require.Equal(t, 5, ended())
		for i := range all {
			require.NoError(t, srv.Set(watchedName(i), []byte("new")))
			data, _ := all[i].seen()
			require.Equal(t, "new", data)
		}
	})
}

// A server that takes short requests answers one for some of the watches. That
// says nothing of one for all of them.
func TestShortSetWatchesIsNoAnswerForALongOne(t *testing.T) {
	const many = 100
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, lines, ended := limitedClient(t, srv)
		watchAll := func() {
			for i := range many {
				_, _, _, err := c.ExistsW(t.Context(), watchedName(i))
				require.NoError(t, err)
			}
		}
		watchAll()
		require.NoError(t, srv.Create("/n", nil))
		follow(t, c, "/n")
		srv.CutAll()
		time.Sleep(10 * time.Second)
		require.Equal(t, 4, ended())
		require.Empty(t, lines())
		require.Len(t, srv.Watches(), 1)

		watchAll()
		srv.CutAll()
		time.Sleep(10 * time.Second)
		require.Equal(t, 4, ended())
		require.Len(t, srv.Watches(), 1)
	})
}

// limitedConn is a connection to a server with a limit of a request's length.
type limitedConn struct {
	net.Conn
	limit int
	ended *atomic.Int32
}

func (c *limitedConn) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := int(binary.BigEndian.Uint32(rest))
		if n > c.limit {
			c.ended.Add(1)
			return len(p), c.Close()
		}
		rest = rest[4+n:]
	}
	return c.Conn.Write(p)
}

// Looks are made with the same request. On these servers, each watch that is
// older is looked at by a read.
func TestServersThatHangUpOnLooksAreWorkedAround(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, lines := suspectClient(t, srv)
		require.NoError(t, srv.Create("/n", nil))
		_, _, w, err := c.GetW(t.Context(), "/n")
		require.NoError(t, err)
		hits := hangsUp(srv, zktest.OpSetWatches, "")
		time.Sleep(untold + 10*time.Second)
		require.Equal(t, 4, hits.Hits())
		require.Len(t, lines(), 1)
		ev, err := w.Wait(within(t, time.Second))
		require.NoError(t, err)
		require.Equal(t, zk.Event{Type: zk.EventNotWatching, State: zk.StateDisconnected, Path: "/n"}, ev)

		_, _, w, err = c.GetW(t.Context(), "/n")
		require.NoError(t, err)
		time.Sleep(time.Hour)
		require.False(t, fired(w))
		inSilence(t, srv, "/n", func() { require.NoError(t, srv.Set("/n", nil)) })
		ev, err = w.Wait(within(t, untold))
		require.NoError(t, err)
		require.Equal(t, zk.EventNodeDataChanged, ev.Type)
		require.Equal(t, 4, hits.Hits())
	})
}
