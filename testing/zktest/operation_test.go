package zktest

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func TestReplyHeaders(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		r := c.create("/a", 0)
		require.Equal(t, srv.Zxid(), r.zxid)

		c.sendXid(-1001, wire.OpExists, "/a", false)
		require.EqualValues(t, -1001, c.receive().xid, "foreign xids come back as they are")

		c.sendXid(7, wire.OpPing)
		require.Equal(t, wire.XidPing, c.receive().xid, "a ping has its own xid in any case")

		c.sendXid(-4, wire.OpAuth, 0, "digest", []byte("u:p"))
		r = c.receive()
		require.EqualValues(t, -4, r.xid)
		require.Zero(t, r.zxid, "an auth reply says nothing about transactions")

		r = c.call(wire.OpGetData, "/missing", false)
		require.Equal(t, wire.ErrNoNode, r.code)
		require.Empty(t, r.body.Buf, "an error has no body")
	})
}

func TestFailedWriteConsumesZxid(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		before := srv.Zxid()
		r := c.call(wire.OpDelete, "/missing", -1)
		require.Equal(t, wire.ErrNoNode, r.code)
		require.Equal(t, before+1, r.zxid)
	})
}

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

func TestCreateVariants(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		r := c.call(wire.OpCreate2, "/a", []byte(nil), datatree.OpenACL, 0)
		require.Equal(t, "/a", r.body.String())
		require.Equal(t, r.zxid, r.body.Stat().Czxid)

		r = c.call(wire.OpCreateContainer, "/c", []byte{}, datatree.OpenACL, int(wire.FlagContainer))
		require.Equal(t, "/c", r.body.String())
		require.Zero(t, r.body.Stat().EphemeralOwner)

		r = c.call(wire.OpCreateTTL, "/t-", []byte{}, datatree.OpenACL, int(wire.FlagTTLSequence), int64(5000))
		require.Equal(t, "/t-0000000002", r.body.String())

		r = c.call(wire.OpCreate2, "/e", []byte("xy"), datatree.OpenACL, int(wire.FlagEphemeral))
		r.body.Buffer()
		stat := r.body.Stat()
		require.Equal(t, c.session, stat.EphemeralOwner)
		require.EqualValues(t, 2, stat.DataLength)
	})
}

func TestGetDataKeepsNullApartFromEmpty(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.call(wire.OpCreate, "/null", []byte(nil), datatree.OpenACL, 0)
		c.call(wire.OpCreate, "/empty", []byte{}, datatree.OpenACL, 0)
		require.Nil(t, c.call(wire.OpGetData, "/null", false).body.Buffer())
		require.NotNil(t, c.call(wire.OpGetData, "/empty", false).body.Buffer())
	})
}

func TestGetChildren(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.NoError(t, srv.Create("/p/a/b", nil))
		require.NoError(t, srv.Create("/p/c", nil))
		c := login(t, srv)
		names := c.call(wire.OpGetChildren, "/p", false).body.Strings()
		slices.Sort(names)
		require.Equal(t, []string{"a", "c"}, names)
		r := c.call(wire.OpGetChildren2, "/p", false)
		require.Len(t, r.body.Strings(), 2)
		require.EqualValues(t, 2, r.body.Stat().NumChildren)
		require.Equal(t, frameLength(0), c.call(wire.OpGetChildren, "/p/c", false).body.Buf, "empty is not null")
		require.EqualValues(t, 3, c.call(wire.OpGetAllChildrenNumber, "/p").body.Int32())
		require.Equal(t, wire.ErrNoNode, c.call(wire.OpGetChildren, "/x", true).code)
		srv.AssertNoWatches(t)
	})
}

func TestReadsTakeTheEmptyPathForTheRoot(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		require.Equal(t, []string{"zookeeper"}, c.call(wire.OpGetChildren, "", false).body.Strings())
		require.Equal(t, wire.ErrBadArguments, c.call(wire.OpSetData, "", []byte{}, -1).code)
	})
}

func TestUnknownRequestEndsTheConnection(t *testing.T) {
	for _, op := range []wire.Op{wire.Op(77), wire.OpCheck} { // check exists only inside a multi
		bubble(t, func(t *testing.T, srv *Server) {
			c := login(t, srv)
			require.Equal(t, wire.ErrUnimplemented, c.call(op, "/", 0).code)
			c.requireClosed()
			require.Len(t, srv.Sessions(), 1)
		})
	}
}

func TestMalformedRequestIsAnswered(t *testing.T) {
	for name, send := range map[string]func(c *raw) reply{
		"no path":                 func(c *raw) reply { return c.call(wire.OpGetData) },
		"string longer than all":  func(c *raw) reply { return c.call(wire.OpDelete, 0x7fffffff) },
		"vector longer than all":  func(c *raw) reply { return c.call(wire.OpSetWatches, int64(0), 0x7fffffff) },
		"negative length":         func(c *raw) reply { return c.call(wire.OpGetData, -2) },
		"multi without end":       func(c *raw) reply { return c.call(wire.OpMulti) },
		"multi with a read":       func(c *raw) reply { return c.call(wire.OpMulti, wire.OpGetData, "/", false, wire.OpError) },
		"multiRead with a write":  func(c *raw) reply { return c.call(wire.OpMultiRead, wire.OpDelete, "/a", -1, wire.OpError) },
		"addWatch in no mode":     func(c *raw) reply { return c.call(wire.OpAddWatch, "/", 7) },
		"checkWatches of no kind": func(c *raw) reply { return c.call(wire.OpCheckWatches, "/", 0) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *Server) {
				c := login(t, srv)
				require.Equal(t, wire.ErrMarshalling, send(c).code)
				require.Equal(t, "/", c.call(wire.OpSync, "/").body.String())
			})
		})
	}
}

func TestReconfigIsDisabled(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.Equal(t, wire.ErrReconfigDisabled, login(t, srv).call(wire.OpReconfig, "", "", "", int64(-1)).code)
	})
}

func TestGetEphemeralsListsOnlyOwnOnes(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c, other := login(t, srv), login(t, srv)
		c.create("/a", int(wire.FlagEphemeral))
		c.create("/b", int(wire.FlagEphemeral))
		other.create("/c", int(wire.FlagEphemeral))
		require.ElementsMatch(t, []string{"/a", "/b"}, c.call(wire.OpGetEphemerals, "/").body.Strings())
		require.Equal(t, []string{"/b"}, c.call(wire.OpGetEphemerals, "/b").body.Strings())
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

func TestTTLNodesCanBeSwitchedOff(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		r := c.call(wire.OpCreateTTL, "/ttl", []byte{}, datatree.OpenACL, int(wire.FlagTTL), int64(1))
		require.Equal(t, wire.ErrUnimplemented, r.code)
	}, WithTTLNodes(false))
}

func TestLargeTree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := thorough.Size(100_000, 10_000)
		srv := Start(t)
		for i := range n {
			require.NoError(t, srv.Create(fmt.Sprintf("/many/%05d", i), nil))
		}
		c := login(t, srv)
		require.Len(t, c.call(wire.OpGetChildren, "/many", false).body.Strings(), n)
		require.NoError(t, srv.Delete("/many"))
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

func TestContainerCheckInterval(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		require.Equal(t, wire.OK, c.call(wire.OpCreateTTL, "/ttl", []byte{}, datatree.OpenACL, int(wire.FlagTTL), int64(1500)).code)
		time.Sleep(1900 * time.Millisecond)
		require.Len(t, srv.Tree(), 1)
		time.Sleep(200 * time.Millisecond)
		require.Empty(t, srv.Tree())
	}, WithContainerCheckInterval(time.Second))
}
