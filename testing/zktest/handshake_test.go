package zktest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func TestHandshakeOpensSession(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		require.EqualValues(t, 10_000, c.timeout)
		require.Len(t, c.password, passwordSize)
		require.EqualValues(t, 1, srv.Zxid(), "opening a session is a transaction")
		sessions := srv.Sessions()
		require.Len(t, sessions, 1)
		require.Equal(t, c.session, sessions[0].ID)
		require.True(t, sessions[0].Connected)
		require.Equal(t, time.Now().Add(10*time.Second), sessions[0].Deadline)
	})
}

func TestHandshakeClampsTimeout(t *testing.T) {
	for _, tc := range []struct {
		name        string
		asked, want int32
	}{
		{"below", 100, 4_000}, {"within", 5_000, 5_000}, {"above", 100_000, 40_000}, {"negative", -1, 4_000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *Server) {
				c := dialRaw(t, srv)
				require.True(t, c.handshake(0, tc.asked, 0, nil))
				require.Equal(t, tc.want, c.timeout)
			}, WithSessionTimeouts(4*time.Second, 40*time.Second))
		})
	}
}

func TestHandshakeEchoesReadOnlyFlagOnlyIfSent(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.True(t, dialRaw(t, srv).handshake(0, 1000, 0, nil)) // handshake checks the length
		require.True(t, dialRaw(t, srv).handshake(0, 1000, 0, nil, 0))
	})
}

func TestHandshakeMovesSessionToNewConnection(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		old := login(t, srv)
		c := dialRaw(t, srv)
		require.True(t, c.handshake(0, 20_000, old.session, old.password))
		require.Equal(t, old.session, c.session)
		require.EqualValues(t, 20_000, c.timeout)
		old.requireClosed()
		require.Equal(t, time.Now().Add(20*time.Second), srv.Sessions()[0].Deadline)
		require.Equal(t, wire.OK, c.call(wire.OpPing).code)
		require.Equal(t, 1, srv.Connections())
		require.EqualValues(t, 1, srv.Zxid(), "taking a session up is no transaction")
	})
}

func TestHandshakeRejectsSession(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		for name, try := range map[string]struct {
			id       int64
			password []byte
		}{
			"wrong password": {c.session, make([]byte, passwordSize)},
			"no password":    {c.session, nil},
			"unknown":        {c.session + 1, srv.password(c.session + 1)},
		} {
			r := dialRaw(t, srv)
			require.True(t, r.handshake(0, 1000, try.id, try.password), name)
			require.Zero(t, r.session, name)
			require.Zero(t, r.timeout, name)
			require.Equal(t, make([]byte, passwordSize), r.password, name)
			r.requireClosed()
		}
		c.requireClosed() // as on a real server: see TestSessionsConform
		require.True(t, dialRaw(t, srv).handshake(0, 1000, c.session, c.password))
		require.Len(t, srv.Sessions(), 1, "nobody else has ended it")
	})
}

func TestHandshakeFromTheFutureGetsNoAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.False(t, dialRaw(t, srv).handshake(1, 1000, 0, nil))
		require.Empty(t, srv.Sessions())
	})
}

func TestSessionExpiresExactlyAtItsTimeout(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.create("/e", int(wire.FlagEphemeral))
		time.Sleep(9 * time.Second)
		c.call(wire.OpPing)
		time.Sleep(10*time.Second - 1)
		synctest.Wait()
		require.Len(t, srv.Sessions(), 1)
		zxid := srv.Zxid()
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		srv.AssertNoSessions(t)
		srv.AssertNoNodes(t, "/")
		require.Equal(t, zxid+1, srv.Zxid(), "the end of a session is one transaction")
		require.Equal(t, 1, srv.Stats().Expired)
		srv.ClearRequests()
		require.Zero(t, srv.Stats().Expired)
		c.requireClosed()
	})
}

func TestTickRoundsExpiryUp(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		time.Sleep(500 * time.Millisecond)
		login(t, srv) // until 10.5 s
		time.Sleep(11*time.Second + 499*time.Millisecond)
		synctest.Wait()
		require.Len(t, srv.Sessions(), 1)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		srv.AssertNoSessions(t)
	}, WithTick(2*time.Second))
}

func TestCloseSessionDeletesEphemeralsAnswersAndCloses(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.create("/e", int(wire.FlagEphemeral))
		r := c.call(wire.OpCloseSession)
		require.Equal(t, wire.OK, r.code)
		require.Equal(t, srv.Zxid(), r.zxid)
		c.requireClosed()
		srv.AssertNoNodes(t, "/")
		srv.AssertNoSessions(t)
	})
}

// Nothing of a session is left to wait for once it is over.
func TestCloseDoesNotWaitForEndedSessions(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		login(t, srv).call(wire.OpCloseSession)
		require.True(t, srv.Session(login(t, srv).session).Expire())
		start := time.Now()
		require.NoError(t, srv.Close())
		require.Zero(t, time.Since(start))
	})
}

func TestMalformedInputClosesTheConnection(t *testing.T) {
	login := func(t *testing.T, srv *Server) *raw { return login(t, srv) }
	for name, tc := range map[string]struct {
		dial func(*testing.T, *Server) *raw
		send []byte
	}{
		"garbage":         {dialRaw, []byte("GET / HTTP/1.1\r\n\r\n")},
		"negative length": {dialRaw, frameLength(0xffffffff)},
		"empty handshake": {dialRaw, frameLength(0)},
		"short handshake": {dialRaw, append(frameLength(8), make([]byte, 8)...)},
		"frame too long":  {login, frameLength(wire.MaxFrame + 1)},
		"empty request":   {login, frameLength(0)},
		"half a header":   {login, append(frameLength(4), 0, 0, 0, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *Server) {
				c := tc.dial(t, srv)
				c.write(tc.send)
				c.requireClosed()
				require.Zero(t, srv.Connections())
			})
		})
	}
}

func TestTruncatedFrame(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		c.write(append(frameLength(100), 0, 0))
		require.NoError(t, c.nc.Close())
		synctest.Wait()
		require.Zero(t, srv.Connections())
	})
}

func TestFourLetterWords(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		for word, want := range map[string]string{
			"ruok": "imok", "isro": "rw", "srvr": "Mode: standalone", "mntr": "zk_znode_count\t5\n",
		} {
			c := dialRaw(t, srv)
			c.write([]byte(word))
			require.Contains(t, c.readAll(), want)
		}
	})
}

// The log tells a handshake that was hung up on from one that was answered.
func TestLogOfAHandshakeThatIsHungUpOn(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.False(t, dialRaw(t, srv).handshake(1<<40, 10_000, 0, nil), "it has seen more than there is")
		require.Equal(t, wire.ErrConnectionLoss, srv.Requests()[0].Err)
	})
}
