package zktest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOwnEventComesBeforeTheReply(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		require.Equal(t, ErrNoNode, c.call(OpExists, "/a", true).code)
		c.call(OpGetChildren2, "/", true)
		xid := c.send(OpCreate, "/a", []byte{}, openACL, 0)
		r := c.receive()
		require.Equal(t, xidNotification, r.xid)
		require.Equal(t, srv.Zxid(), r.zxid, "the zxid of the change")
		require.Equal(t, change{eventCreated, "/a"}, r.event())
		require.Equal(t, change{eventChildrenChanged, "/"}, c.receive().event())
		require.Equal(t, xid, c.receive().xid)
	})
}

func TestSetWatchesCatchesUp(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		for _, path := range []string{"/same", "/changed", "/parent", "/gone", "/gone2"} {
			require.NoError(t, srv.Create(path, nil))
		}
		seen := srv.Zxid()
		require.NoError(t, srv.Set("/changed", []byte("x")))
		require.NoError(t, srv.Create("/parent/new", nil))
		require.NoError(t, srv.Create("/appeared", nil))
		require.NoError(t, srv.Delete("/gone"))
		require.NoError(t, srv.Delete("/gone2"))

		c := login(t, srv)
		c.sendXid(-8, OpSetWatches, seen, []string{"/same", "/changed", "/gone"},
			[]string{"/appeared", "/missing"}, []string{"/parent", "/same", "/gone2"})
		for _, want := range []change{
			{eventDataChanged, "/changed"}, {eventDeleted, "/gone"}, {eventCreated, "/appeared"},
			{eventChildrenChanged, "/parent"}, {eventDeleted, "/gone2"},
		} {
			require.Equal(t, want, c.receive().event())
		}
		require.EqualValues(t, -8, c.receive().xid)
		require.Equal(t, []Watch{
			{Session: c.session, Path: "/missing", Kind: WatchData},
			{Session: c.session, Path: "/same", Kind: WatchData},
			{Session: c.session, Path: "/same", Kind: WatchChild},
		}, srv.Watches())
	})
}

func TestPersistentWatches(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.call(OpAddWatch, "/p", 0)
		c.call(OpAddWatch, "/r", 1)
		for _, path := range []string{"/p", "/p/a", "/r", "/r/a"} {
			require.NoError(t, srv.Create(path, nil))
		}
		require.NoError(t, srv.Set("/r/a", nil))
		require.NoError(t, srv.Delete("/r"))
		for _, want := range []change{
			{eventCreated, "/p"}, {eventChildrenChanged, "/p"},
			{eventCreated, "/r"}, {eventCreated, "/r/a"}, {eventDataChanged, "/r/a"},
			{eventDeleted, "/r/a"}, {eventDeleted, "/r"},
		} {
			require.Equal(t, want, c.receive().event())
		}
		require.Len(t, srv.Watches(), 3)
		require.Equal(t, ok, c.call(OpCheckWatches, "/p", 4).code)
		require.Equal(t, ok, c.call(OpRemoveWatches, "/p", 4).code)
		require.Equal(t, ErrNoWatcher, c.call(OpRemoveWatches, "/p", 4).code)
		require.Equal(t, ok, c.call(OpRemoveWatches, "/r", 3).code)
		srv.AssertNoWatches(t)
		c.sendXid(-8, OpSetWatches2, int64(0), []string{}, []string{}, []string{}, []string{"/p"}, []string{"/r"})
		require.EqualValues(t, -8, c.receive().xid)
		require.Len(t, srv.Watches(), 3)
	})
}

func TestRemoveWatchesByKind(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.call(OpExists, "/a", true)
		require.Equal(t, ErrNoWatcher, c.call(OpRemoveWatches, "/a", 1).code)
		require.Equal(t, ok, c.call(OpCheckWatches, "/a", 2).code)
		require.Equal(t, ok, c.call(OpRemoveWatches, "/a", 2).code)
		srv.AssertNoWatches(t)
	})
}

func TestWatchOfNodeAndChildrenHearsOfDeletionOnce(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.NoError(t, srv.Create("/a", nil))
		c := login(t, srv)
		c.call(OpGetData, "/a", true)
		c.call(OpGetChildren, "/a", true)
		require.NoError(t, srv.Delete("/a"))
		require.Equal(t, change{eventDeleted, "/a"}, c.receive().event())
		c.requireSilence()
		srv.AssertNoWatches(t)
	})
}

// A test may look right after a client has closed its session, without waiting for
// the connection to end.
func TestClosedSessionLeavesNoWatches(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.call(OpExists, "/x", true)
		srv.Inject(Rule{Op: OpCloseSession, Do: DelayReply(time.Second)})
		c.send(OpCloseSession)
		synctest.Wait()
		require.Equal(t, 1, srv.Connections())
		srv.AssertNoWatches(t)
		srv.AssertNoSessions(t)
		require.Equal(t, ok, c.receive().code)
	})
}
