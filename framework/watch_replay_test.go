package framework_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
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
		"throttled":      {zktest.Fail(zkinside.ErrThrottled), 1},
		"system error":   {zktest.Fail(zkinside.ErrSystem), 1},
		"unimplemented":  {zktest.Fail(zkinside.ErrUnimplemented), 1},
		"no right":       {zktest.Fail(zktest.ErrNoAuth), 1},
	} {
		t.Run(name, func(t *testing.T) {
			serverOnly(t, func(t *testing.T, srv *zktest.Server) {
				c := newClient(t, srv)
				require.NoError(t, srv.Create("/n", []byte("old")))
				f := follow(t, c, "/n")
				rule := srv.Inject(zktest.Rule{Op: zkinside.OpSetWatches, Times: -1, Do: tc.do})
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
