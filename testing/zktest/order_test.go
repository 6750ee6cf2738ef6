package zktest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func TestReset(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		srv.Inject(Rule{Op: wire.OpCreate, Do: reset()})
		c.send(wire.OpExists, "/", false)
		synctest.Wait() // its answer is here, unread
		c.send(wire.OpCreate, "/a", []byte{}, datatree.OpenACL, 0)
		synctest.Wait()
		_, err := c.nc.Read(make([]byte, 100))
		require.ErrorContains(t, err, "reset")
		require.Empty(t, srv.Tree())
	})
}

func TestPauseSession(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c, other := login(t, srv), login(t, srv)
		zkinside.Of(srv).PauseSession(c.session)
		xid := c.send(wire.OpCreate, "/a", []byte{}, datatree.OpenACL, 0)
		c.requireSilence()
		other.call(wire.OpExists, "/", false)
		time.Sleep(3 * time.Second)
		require.Empty(t, srv.Tree())
		zkinside.Of(srv).ResumeSession(c.session)
		require.Equal(t, xid, c.receive().xid)
		require.Len(t, srv.Tree(), 1)

		zkinside.Of(srv).PauseSession(c.session)
		c.send(wire.OpPing)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Empty(t, srv.Sessions())
		c.requireClosed()
	})
}

func TestPause(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		awake, silent := login(t, srv), login(t, srv)
		srv.Pause()
		time.Sleep(9 * time.Second)
		awake.send(wire.OpPing)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Len(t, srv.Sessions(), 2, "a paused server expires nobody")
		srv.Resume()
		synctest.Wait()
		require.Empty(t, srv.Sessions())
		awake.requireClosed()
		silent.requireClosed()

		again := login(t, srv)
		srv.Pause()
		xid := again.send(wire.OpExists, "/", false)
		again.requireSilence()
		word := dialRaw(t, srv)
		word.write([]byte("ruok"))
		word.requireSilence()
		srv.Resume()
		srv.Resume()
		require.Equal(t, xid, again.receive().xid)
		require.Equal(t, "imok", word.readAll())
	})
}

// A member that has not heard of the end of a session goes on with it; the
// leader does not.
func TestWriteOfASessionThatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := StartEnsemble(t, 3)
		late := ens.Members()[0]
		c := login(t, late.Server)
		late.Lag(forever)
		require.True(t, ens.Leader().Session(c.session).Expire())
		require.Equal(t, wire.OK, c.call(wire.OpExists, "/", false).code)
		c.send(wire.OpCreate, "/a", []byte{}, datatree.OpenACL, 0)
		c.requireSilence()
		late.Lag(0)
		c.requireClosed()
		require.Empty(t, ens.Leader().Tree())
		log := late.Requests()
		require.Equal(t, wire.ErrSessionExpired, log[len(log)-1].Err)
	})
}
