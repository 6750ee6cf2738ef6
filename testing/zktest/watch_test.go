package zktest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func TestOwnEventComesBeforeTheReply(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		require.Equal(t, wire.ErrNoNode, c.call(wire.OpExists, "/a", true).code)
		c.call(wire.OpGetChildren2, "/", true)
		xid := c.send(wire.OpCreate, "/a", []byte{}, datatree.OpenACL, 0)
		r := c.receive()
		require.Equal(t, wire.XidNotification, r.xid)
		require.Equal(t, srv.Zxid(), r.zxid, "the zxid of the change")
		require.Equal(t, datatree.Change{Event: wire.EventCreated, Path: "/a"}, r.event())
		require.Equal(t, datatree.Change{Event: wire.EventChildrenChanged, Path: "/"}, c.receive().event())
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
		c.sendXid(-8, wire.OpSetWatches, seen, []string{"/same", "/changed", "/gone"},
			[]string{"/appeared", "/missing"}, []string{"/parent", "/same", "/gone2"})
		for _, want := range []datatree.Change{
			{Event: wire.EventDataChanged, Path: "/changed"}, {Event: wire.EventDeleted, Path: "/gone"}, {Event: wire.EventCreated, Path: "/appeared"},
			{Event: wire.EventChildrenChanged, Path: "/parent"}, {Event: wire.EventDeleted, Path: "/gone2"},
		} {
			require.Equal(t, want, c.receive().event())
		}
		require.EqualValues(t, -8, c.receive().xid)
		require.Equal(t, []Watch{
			{Session: c.session, Path: "/missing"},
			{Session: c.session, Path: "/same"},
			{Session: c.session, Path: "/same", Child: true},
		}, srv.Watches())
	})
}

func TestPersistentWatches(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.call(wire.OpAddWatch, "/p", 0)
		c.call(wire.OpAddWatch, "/r", 1)
		for _, path := range []string{"/p", "/p/a", "/r", "/r/a"} {
			require.NoError(t, srv.Create(path, nil))
		}
		require.NoError(t, srv.Set("/r/a", nil))
		require.NoError(t, srv.Delete("/r"))
		for _, want := range []datatree.Change{
			{Event: wire.EventCreated, Path: "/p"}, {Event: wire.EventChildrenChanged, Path: "/p"},
			{Event: wire.EventCreated, Path: "/r"}, {Event: wire.EventCreated, Path: "/r/a"}, {Event: wire.EventDataChanged, Path: "/r/a"},
			{Event: wire.EventDeleted, Path: "/r/a"}, {Event: wire.EventDeleted, Path: "/r"},
		} {
			require.Equal(t, want, c.receive().event())
		}
		require.Len(t, srv.Watches(), 3)
		require.Equal(t, wire.OK, c.call(wire.OpCheckWatches, "/p", 4).code)
		require.Equal(t, wire.OK, c.call(wire.OpRemoveWatches, "/p", 4).code)
		require.Equal(t, wire.ErrNoWatcher, c.call(wire.OpRemoveWatches, "/p", 4).code)
		require.Equal(t, wire.OK, c.call(wire.OpRemoveWatches, "/r", 3).code)
		srv.AssertNoWatches(t)
		c.sendXid(-8, wire.OpSetWatches2, int64(0), []string{}, []string{}, []string{}, []string{"/p"}, []string{"/r"})
		require.EqualValues(t, -8, c.receive().xid)
		require.Len(t, srv.Watches(), 3)
	})
}

func TestRemoveWatchesByKind(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.call(wire.OpExists, "/a", true)
		require.Equal(t, wire.ErrNoWatcher, c.call(wire.OpRemoveWatches, "/a", 1).code)
		require.Equal(t, wire.OK, c.call(wire.OpCheckWatches, "/a", 2).code)
		require.Equal(t, wire.OK, c.call(wire.OpRemoveWatches, "/a", 2).code)
		srv.AssertNoWatches(t)
	})
}

func TestWatchOfNodeAndChildrenHearsOfDeletionOnce(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.NoError(t, srv.Create("/a", nil))
		c := login(t, srv)
		c.call(wire.OpGetData, "/a", true)
		c.call(wire.OpGetChildren, "/a", true)
		require.NoError(t, srv.Delete("/a"))
		require.Equal(t, datatree.Change{Event: wire.EventDeleted, Path: "/a"}, c.receive().event())
		c.requireSilence()
		srv.AssertNoWatches(t)
	})
}

// A test may look right after a client has closed its session, without waiting
// for the connection to end.
func TestClosedSessionLeavesNoWatches(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.call(wire.OpExists, "/x", true)
		srv.Inject(Rule{Op: wire.OpCloseSession, Do: DelayReply(time.Second)})
		c.send(wire.OpCloseSession)
		synctest.Wait()
		require.Equal(t, 1, srv.Connections())
		srv.AssertNoWatches(t)
		srv.AssertNoSessions(t)
		require.Equal(t, wire.OK, c.receive().code)
	})
}
