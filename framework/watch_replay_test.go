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

// changedMeanwhile changes a node while nobody is connected.
func changedMeanwhile(t *testing.T, srv *zktest.Server, path, data string) {
	t.Helper()
	srv.RefuseConnections(true)
	srv.CutAll()
	require.NoError(t, srv.Set(path, []byte(data)))
	srv.RefuseConnections(false)
}

// A server refuses to set watches again, or hangs up when it is asked to. The watches
// end then, and those who wait read again, once for each connection that holds. A
// server that sets them again is not held to that.
func TestServersThatHangUpOnSetWatchesAreWorkedAround(t *testing.T) {
	for name, tc := range map[string]struct {
		do          zktest.Action
		connections int
	}{
		"hang-up":        {zktest.DropRequest(), 2},
		"hang-up, later": {zktest.All(zktest.DelayRequest(time.Second), zktest.DropRequest()), 2},
		"throttled":      {zktest.Fail(zktest.ErrThrottled), 1},
		"system error":   {zktest.Fail(zktest.ErrSystem), 1},
		"unimplemented":  {zktest.Fail(zktest.ErrUnimplemented), 1},
		"no right":       {zktest.Fail(zktest.ErrNoAuth), 1},
	} {
		t.Run(name, func(t *testing.T) {
			serverOnly(t, func(t *testing.T, srv *zktest.Server) {
				c := newClient(t, srv)
				require.NoError(t, srv.Create("/n", []byte("old")))
				f := follow(t, c, "/n")
				rule := srv.Inject(zktest.Rule{Op: zktest.OpSetWatches, Times: -1, Do: tc.do})
				for i := range 3 {
					srv.ClearRequests()
					changedMeanwhile(t, srv, "/n", fmt.Sprint("newer ", i))
					time.Sleep(10 * time.Second)
					data, unknown := f.seen()
					require.Equal(t, fmt.Sprint("newer ", i), data)
					require.Equal(t, i+1, unknown)
					require.Equal(t, i+1, rule.Hits())
					require.Equal(t, tc.connections, srv.CountRequests(zktest.OpConnect))
					require.NoError(t, srv.Set("/n", []byte("last")))
					data, _ = f.seen()
					require.Equal(t, "last", data, "it has a watch")
				}
				rule.Remove()
				changedMeanwhile(t, srv, "/n", "new")
				time.Sleep(10 * time.Second)
				data, unknown := f.seen()
				require.Equal(t, "new", data)
				require.Equal(t, 3, unknown, "the server tells of it")
				require.Len(t, srv.Watches(), 1)
			})
		})
	}
}

func watchedName(i int) string { return fmt.Sprintf("/%s-%d", strings.Repeat("x", 100), i) }

// Many watches are set again by several requests, one of which the server does not
// carry out, or by one that is too long for it.
func TestSetWatchesThatIsTooLongIsWorkedAround(t *testing.T) {
	const many = 100
	for name, tc := range map[string]struct {
		request int // the longest that the client makes
		server  int // the longest that the server takes
		do      zktest.Action
	}{
		"one of several refused": {1 << 10, 1 << 20, zktest.Fail(zktest.ErrNoAuth)},
		"one of several hang-up": {1 << 10, 1 << 20, zktest.DropRequest()},
		"too long":               {1 << 20, 4 << 10, zktest.DelayRequest(0)},
	} {
		t.Run(name, func(t *testing.T) {
			serverOnly(t, func(t *testing.T, srv *zktest.Server) {
				var ends atomic.Int32
				dial := func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := srv.Dialer()(ctx, network, address)
					return &limitedConn{conn, tc.server, &ends}, err
				}
				c := newClient(t, srv, framework.WithMaxRequestSize(tc.request), framework.WithDialer(dial))
				var all []*follower
				for i := range many {
					require.NoError(t, srv.Create(watchedName(i), nil))
					all = append(all, follow(t, c, watchedName(i)))
				}
				for range 3 {
					srv.Inject(zktest.Rule{Op: zktest.OpSetWatches, After: 3, Do: tc.do})
					before := srv.CountRequests(zktest.OpConnect)
					srv.CutAll()
					time.Sleep(10 * time.Second)
					require.LessOrEqual(t, srv.CountRequests(zktest.OpConnect)-before, 2)
					for i := range all {
						require.NoError(t, srv.Set(watchedName(i), []byte("new")))
						data, _ := all[i].seen()
						require.Equal(t, "new", data)
					}
				}
			})
		})
	}
}

// A network that breaks all the time is no matter of the request. Watches that were
// on their way end each time, and those who wait read again.
func TestWatchesAreSetAgainWhenTheNetworkWasBroken(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv)
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
