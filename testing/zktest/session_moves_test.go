package zktest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// A session that was to come to a member which is gone has expired meanwhile.
// Every member tells its client.
func TestMoveToAMemberThatIsGone(t *testing.T) {
	ensembleBubble(t, 3, func(t *testing.T, ens *Ensemble) {
		ms := ens.Members()
		c := login(t, ms[2].Server)
		require.True(t, ens.Session(c.session).MoveTo(ms[0]))
		require.NoError(t, ms[0].Stop())
		time.Sleep(time.Hour)
		require.Empty(t, ms[1].Sessions())
		d := dialRaw(t, ms[1].Server)
		require.True(t, d.handshake(0, 10_000, c.session, c.password))
		require.Zero(t, d.session)

		e := login(t, ms[1].Server)
		require.NoError(t, ms[0].Close())
		require.False(t, ens.Session(e.session).MoveTo(ms[0]))
	})
}

// A session that comes back by another way is none of the host's any more.
func TestLoseSessionsThatComeFromElsewhere(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		host := srv.NewHost()
		dial := func() *raw {
			nc, err := host.Dialer()(t.Context(), "tcp", srv.Addr())
			require.NoError(t, err)
			t.Cleanup(func() { nc.Close() })
			require.NoError(t, nc.SetReadDeadline(time.Now().Add(time.Minute)))
			return &raw{t: t, nc: nc}
		}
		a, b := dial(), dial()
		require.True(t, a.handshake(0, 10_000, 0, nil))
		require.True(t, b.handshake(0, 10_000, 0, nil))
		require.True(t, host.LoseSessions())
		elsewhere := dialRaw(t, srv)
		require.True(t, elsewhere.handshake(0, 10_000, a.session, a.password))
		elsewhere.call(wire.OpCloseSession)
		time.Sleep(9 * time.Second)
		require.NotEmpty(t, srv.Sessions(), "the other session is still to be lost")
		time.Sleep(2 * time.Second)
		require.Empty(t, srv.Sessions())
		require.True(t, dial().handshake(0, 10_000, 0, nil), "the host is healed")
	})
}

// New clients have no session yet, and a handle on none must not hold them up.
func TestPauseOfNoSession(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.False(t, srv.Session(0).Pause())
		login(t, srv)
		require.False(t, srv.Session(0).Resume())
	})
}

func TestPauseEndsWithItsSession(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c, other := login(t, srv), login(t, srv)
		sess := srv.Session(c.session)
		require.True(t, sess.Pause())
		for range 3 {
			time.Sleep(4 * time.Second)
			other.call(wire.OpExists, "/a", true)
		}
		require.Empty(t, sess.Ephemerals())
		require.Nil(t, sess.Watches(), "those of others are none of its own")
		require.False(t, sess.Resume())
		d := dialRaw(t, srv)
		require.True(t, d.handshake(0, 10_000, c.session, c.password))
		require.Zero(t, d.session)
	})
}
