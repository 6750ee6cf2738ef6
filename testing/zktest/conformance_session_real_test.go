//go:build real

package zktest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func TestSessionsConform(t *testing.T) {
	conform(t, "negotiation", func(s *stage) {
		a := s.client()
		for _, timeout := range []int32{-1, 0, 1, 5_999, 6_000, 6_001, 59_999, 60_000, 60_001, 1<<31 - 1} {
			a.connect(0, timeout, a.session, a.password)
		}
		a.connect(0, scriptSession, a.session, a.password, 0) // with the byte of newer clients
		a.connect(0, scriptSession, a.session, a.password, 1)
	})
	conform(t, "rejection", func(s *stage) {
		a, b := s.client(), s.client()
		id, right := a.session, a.password
		wrong := make([]byte, passwordSize)
		for _, password := range [][]byte{wrong, nil, {}, right[:8], b.password, append(wrong, right...)} {
			a.connect(0, scriptSession, id, password)
			a.awaitEnd()
		}
		a.connect(0, scriptSession, id+100, right)
		a.connect(0, scriptSession, id, right)
		a.closeSession()
		a.connect(0, scriptSession, id, right)
		a.connect(0, scriptSession, 0, wrong) // of no session
	})
	conform(t, "move", func(s *stage) {
		a, b := s.client(), s.client()
		a.create("/e", wire.FlagEphemeral)
		old := a.nc
		a.reconnect()
		_, err := wire.ReadFrame(old)
		a.note("the old connection: %v", err)
		b.exists("/e", false)
		a.get("/e", true)
		b.set("/e", "new", -1)
		a.do(wire.OpGetEphemerals, "/")
	})
	conform(t, "a wrong password ends the connection", func(s *stage) {
		a := s.client()
		a.create("/e", wire.FlagEphemeral)
		old, right := a.nc, a.password
		a.connect(0, scriptSession, a.session, make([]byte, passwordSize))
		a.awaitEnd()
		require.NoError(t, old.SetReadDeadline(time.Now().Add(patience)))
		_, err := wire.ReadFrame(old)
		a.note("the old connection: %v", err)
		a.password = right
		a.reconnect()
		a.get("/e", false)
	})
	conform(t, "a client from the future", func(s *stage) {
		a := s.client()
		a.do(wire.OpSync, "/")
		a.connect(s.last, scriptSession, a.session, a.password)
		a.connect(s.last+1, scriptSession, a.session, a.password)
	})
	conform(t, "close", func(s *stage) {
		a, b := s.client(), s.client()
		a.create("/e", wire.FlagEphemeral)
		a.do(wire.OpCloseSession)
		b.exists("/e", false)
		a.reconnect()
		a.session, a.password = 0, make([]byte, passwordSize)
		a.reconnect()
		b.exists("/e", false)
	})
	conform(t, "expiry, and a session that pings keep", func(s *stage) {
		a, b, c := s.client(), s.client(), s.client()
		shortest := int32(shortestSession.Milliseconds())
		c.connect(0, shortest, c.session, c.password)
		a.connect(0, shortest, a.session, a.password)
		a.create("/e", wire.FlagEphemeral)
		b.exists("/e", true)
		for range 2 { // a busy machine has a third of a session's time, and its tick, for each step
			time.Sleep(shortestSession / 3)
			c.do(wire.OpPing)
		}
		b.awaitEvent()
		c.do(wire.OpPing)
		a.awaitEnd()
		a.reconnect()
		b.do(wire.OpSync, "/")
	})
}
