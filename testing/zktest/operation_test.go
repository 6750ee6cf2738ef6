package zktest

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// The zxid of a create's reply is the czxid of the node, whatever others do at
// the same time: clients use it as a fencing token.
func TestCreateReplyCarriesCzxid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := Start(t)
		var wg sync.WaitGroup
		for range 8 {
			c := login(t, srv)
			wg.Go(func() {
				for range 200 {
					r := c.create("/n-", int(wire.FlagSequence))
					node, found := srv.Node(r.body.String())
					if !found || node.Stat.Czxid != r.zxid {
						t.Errorf("czxid %d, reply says %d", node.Stat.Czxid, r.zxid)
					}
				}
			})
		}
		wg.Wait()
		require.Len(t, srv.Tree(), 1600)
	})
}

func TestContainersAndTTLNodesAreReapedByTheMinute(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := dialRaw(t, srv)
		c.handshake(0, 1_000_000, 0, nil)
		for _, path := range []string{"/used", "/unused"} {
			c.call(wire.OpCreateContainer, path, []byte{}, datatree.OpenACL, int(wire.FlagContainer))
		}
		c.call(wire.OpCreateTTL, "/ttl", []byte{}, datatree.OpenACL, int(wire.FlagTTL), int64(70_000))
		require.NoError(t, srv.Create("/used/x", nil))
		require.NoError(t, srv.Delete("/used/x"))
		c.call(wire.OpExists, "/used", true)
		require.Equal(t, datatree.Change{Event: wire.EventDeleted, Path: "/used"}, c.receive().event())
		require.Equal(t, time.Minute, time.Since(srv.born))
		require.NoError(t, srv.WaitFor(t.Context(), func() bool { _, found := srv.Node("/ttl"); return !found }))
		require.Equal(t, 2*time.Minute, time.Since(srv.born))
		require.Equal(t, []string{"unused", "zookeeper"}, srv.Children("/"))
	})
}

// An alarm that is just going off while the server stops and starts again must
// not leave the next one behind for Close to wait for.
func TestRestartWhileReaping(t *testing.T) {
	for range 20 { // the alarm may still win
		bubble(t, func(t *testing.T, srv *Server) {
			c := dialRaw(t, srv)
			c.handshake(0, 1_000_000, 0, nil) // its expiry must not come into it
			c.call(wire.OpCreateContainer, "/c", []byte{}, datatree.OpenACL, int(wire.FlagContainer))
			srv.mu.Lock()
			time.Sleep(time.Minute)
			for range 100 {
				runtime.Gosched() // until the alarm waits for the lock
			}
			srv.mu.Unlock()
			srv.Stop()
			srv.Restart()
			synctest.Wait()
			start := time.Now()
			require.NoError(t, srv.Close())
			require.Zero(t, time.Since(start))
		})
	}
}

// The order of the log is the order in which requests took effect.
func TestRequestsAreInTheOrderOfTheirTransactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := Start(t)
		var wg sync.WaitGroup
		for range 4 {
			c := login(t, srv)
			wg.Go(func() {
				for range 200 {
					c.create("/n-", int(wire.FlagSequence))
					c.call(wire.OpExists, "/", false)
				}
			})
		}
		wg.Wait()
		var last Request
		for _, r := range srv.Requests() {
			if r.Op == wire.OpCreate {
				require.Greater(t, r.Zxid, last.Zxid)
				require.Greater(t, r.Created, last.Created)
				last = r
				continue
			}
			require.GreaterOrEqual(t, r.Zxid, last.Zxid)
		}
	})
}
