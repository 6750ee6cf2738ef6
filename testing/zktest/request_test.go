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
)

func TestReplyHeaders(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		r := c.create("/a", 0)
		require.Equal(t, srv.Zxid(), r.zxid)

		c.sendXid(-1001, OpExists, "/a", false)
		require.EqualValues(t, -1001, c.receive().xid, "foreign xids come back as they are")

		c.sendXid(7, OpPing)
		require.Equal(t, xidPing, c.receive().xid, "a ping has its own xid in any case")

		c.sendXid(-4, OpAuth, 0, "digest", []byte("u:p"))
		r = c.receive()
		require.EqualValues(t, -4, r.xid)
		require.Zero(t, r.zxid, "an auth reply says nothing about transactions")

		r = c.call(OpGetData, "/missing", false)
		require.Equal(t, ErrNoNode, r.code)
		require.Empty(t, r.body.b, "an error has no body")
	})
}

func TestFailedWriteConsumesZxid(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		before := srv.Zxid()
		r := c.call(OpDelete, "/missing", -1)
		require.Equal(t, ErrNoNode, r.code)
		require.Equal(t, before+1, r.zxid)
	})
}

// The zxid of a create's reply is the czxid of the node, whatever others do at
// the same time: clients use it as a fencing token.
func TestCreateReplyCarriesCzxid(t *testing.T) {
	srv := New(t)
	var wg sync.WaitGroup
	for range 8 {
		c := login(t, srv)
		wg.Go(func() {
			for range 200 {
				r := c.create("/n-", int(flagSequence))
				node, found := srv.Node(r.body.string())
				if !found || node.Stat.Czxid != r.zxid {
					t.Errorf("czxid %d, reply says %d", node.Stat.Czxid, r.zxid)
				}
			}
		})
	}
	wg.Wait()
	require.Len(t, srv.Tree(), 1600)
}

func TestCreateVariants(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		r := c.call(OpCreate2, "/a", []byte(nil), openACL, 0)
		require.Equal(t, "/a", r.body.string())
		require.Equal(t, r.zxid, readStat(r.body).Czxid)

		r = c.call(OpCreateContainer, "/c", []byte{}, openACL, int(flagContainer))
		require.Equal(t, "/c", r.body.string())
		require.Zero(t, readStat(r.body).EphemeralOwner)

		r = c.call(OpCreateTTL, "/t-", []byte{}, openACL, int(flagTTLSequential), int64(5000))
		require.Equal(t, "/t-0000000002", r.body.string())

		r = c.call(OpCreate2, "/e", []byte("xy"), openACL, int(flagEphemeral))
		r.body.string()
		stat := readStat(r.body)
		require.Equal(t, c.session, stat.EphemeralOwner)
		require.EqualValues(t, 2, stat.DataLength)
	})
}

func TestGetDataKeepsNullApartFromEmpty(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.call(OpCreate, "/null", []byte(nil), openACL, 0)
		c.call(OpCreate, "/empty", []byte{}, openACL, 0)
		require.Nil(t, c.call(OpGetData, "/null", false).body.buffer())
		require.NotNil(t, c.call(OpGetData, "/empty", false).body.buffer())
	})
}

func TestGetChildren(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.NoError(t, srv.Create("/p/a/b", nil))
		require.NoError(t, srv.Create("/p/c", nil))
		c := login(t, srv)
		names := c.call(OpGetChildren, "/p", false).body.strings()
		slices.Sort(names)
		require.Equal(t, []string{"a", "c"}, names)
		r := c.call(OpGetChildren2, "/p", false)
		require.Len(t, r.body.strings(), 2)
		require.EqualValues(t, 2, readStat(r.body).NumChildren)
		require.Equal(t, frameLength(0), c.call(OpGetChildren, "/p/c", false).body.b, "empty is not null")
		require.EqualValues(t, 3, c.call(OpGetAllChildrenNumber, "/p").body.int32())
		require.Equal(t, ErrNoNode, c.call(OpGetChildren, "/x", true).code)
		srv.AssertNoWatches(t)
	})
}

func TestReadsTakeTheEmptyPathForTheRoot(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		require.Equal(t, []string{"zookeeper"}, c.call(OpGetChildren, "", false).body.strings())
		require.Equal(t, ErrBadArguments, c.call(OpSetData, "", []byte{}, -1).code)
	})
}

func TestUnknownRequestEndsTheConnection(t *testing.T) {
	for _, op := range []Op{Op(77), OpCheck} { // check exists only inside a multi
		bubble(t, func(t *testing.T, srv *Server) {
			c := login(t, srv)
			require.Equal(t, ErrUnimplemented, c.call(op, "/", 0).code)
			c.requireClosed()
			require.Len(t, srv.Sessions(), 1)
		})
	}
}

func TestMalformedRequestIsAnswered(t *testing.T) {
	for name, send := range map[string]func(c *raw) reply{
		"no path":                 func(c *raw) reply { return c.call(OpGetData) },
		"string longer than all":  func(c *raw) reply { return c.call(OpDelete, 0x7fffffff) },
		"vector longer than all":  func(c *raw) reply { return c.call(OpSetWatches, int64(0), 0x7fffffff) },
		"negative length":         func(c *raw) reply { return c.call(OpGetData, -2) },
		"multi without end":       func(c *raw) reply { return c.call(OpMulti) },
		"multi with a read":       func(c *raw) reply { return c.call(OpMulti, OpGetData, "/", false, opError) },
		"multiRead with a write":  func(c *raw) reply { return c.call(OpMultiRead, OpDelete, "/a", -1, opError) },
		"addWatch in no mode":     func(c *raw) reply { return c.call(OpAddWatch, "/", 7) },
		"checkWatches of no kind": func(c *raw) reply { return c.call(OpCheckWatches, "/", 0) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *Server) {
				c := login(t, srv)
				require.Equal(t, ErrMarshalling, send(c).code)
				require.Equal(t, "/", c.call(OpSync, "/").body.string())
			})
		})
	}
}

func TestReconfigIsDisabled(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.Equal(t, ErrReconfigDisabled, login(t, srv).call(OpReconfig, "", "", "", int64(-1)).code)
	})
}

func TestGetEphemeralsListsOnlyOwnOnes(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c, other := login(t, srv), login(t, srv)
		c.create("/a", int(flagEphemeral))
		c.create("/b", int(flagEphemeral))
		other.create("/c", int(flagEphemeral))
		require.ElementsMatch(t, []string{"/a", "/b"}, c.call(OpGetEphemerals, "/").body.strings())
		require.Equal(t, []string{"/b"}, c.call(OpGetEphemerals, "/b").body.strings())
	})
}

func TestContainersAndTTLNodesAreReapedByTheMinute(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := dialRaw(t, srv)
		c.handshake(0, 1_000_000, 0, nil)
		for _, path := range []string{"/used", "/unused"} {
			c.call(OpCreateContainer, path, []byte{}, openACL, int(flagContainer))
		}
		c.call(OpCreateTTL, "/ttl", []byte{}, openACL, int(flagTTL), int64(70_000))
		require.NoError(t, srv.Create("/used/x", nil))
		require.NoError(t, srv.Delete("/used/x"))
		c.call(OpExists, "/used", true)
		require.Equal(t, change{eventDeleted, "/used"}, c.receive().event())
		require.Equal(t, time.Minute, time.Since(srv.born))
		require.NoError(t, srv.WaitFor(t.Context(), func() bool { _, found := srv.Node("/ttl"); return !found }))
		require.Equal(t, 2*time.Minute, time.Since(srv.born))
		require.Equal(t, []string{"unused", "zookeeper"}, srv.Children("/"))
	})
}

func TestTTLNodesCanBeSwitchedOff(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		r := c.call(OpCreateTTL, "/ttl", []byte{}, openACL, int(flagTTL), int64(1))
		require.Equal(t, ErrUnimplemented, r.code)
	}, WithTTL(false))
}

func TestLargeTree(t *testing.T) {
	srv := New(t)
	for i := range 100_000 {
		require.NoError(t, srv.Create(fmt.Sprintf("/many/%05d", i), nil))
	}
	c := login(t, srv)
	require.Len(t, c.call(OpGetChildren, "/many", false).body.strings(), 100_000)
	require.NoError(t, srv.Delete("/many"))
}

// An alarm that is just going off while the server stops and starts again must
// not leave the next one behind for Close to wait for.
func TestRestartWhileReaping(t *testing.T) {
	for range 20 { // the alarm may still win
		bubble(t, func(t *testing.T, srv *Server) {
			c := dialRaw(t, srv)
			c.handshake(0, 1_000_000, 0, nil) // its expiry must not come into it
			c.call(OpCreateContainer, "/c", []byte{}, openACL, int(flagContainer))
			srv.mu.Lock()
			time.Sleep(reapInterval)
			for range 100 {
				runtime.Gosched() // until the alarm waits for the lock
			}
			srv.mu.Unlock()
			srv.Stop()
			srv.Start()
			synctest.Wait()
			start := time.Now()
			require.NoError(t, srv.Close())
			require.Zero(t, time.Since(start))
		})
	}
}

// The order of the log is the order in which requests took effect.
func TestRequestsAreInTheOrderOfTheirTransactions(t *testing.T) {
	srv := New(t)
	var wg sync.WaitGroup
	for range 4 {
		c := login(t, srv)
		wg.Go(func() {
			for range 200 {
				c.create("/n-", int(flagSequence))
				c.call(OpExists, "/", false)
			}
		})
	}
	wg.Wait()
	var last Request
	for _, r := range srv.Requests() {
		if r.Op == OpCreate {
			require.Greater(t, r.Zxid, last.Zxid)
			require.Greater(t, r.Created, last.Created)
			last = r
			continue
		}
		require.GreaterOrEqual(t, r.Zxid, last.Zxid)
	}
}
