package zktest

import (
	"context"
	"maps"
	"runtime/pprof"

	"github.com/gocurator/curator/testing/zktest/internal/memnet"
)

// ClientLabel is the label of a dialer's context that says who connects: one of
// [runtime/pprof.WithLabels]. A client that has it, and is still connected when
// the test ends, is named in the test's log: a bubble of testing/synctest
// panics then, and its trace does not say whose goroutines are left.
const ClientLabel = "curator.client"

// noteDialLocked keeps in mind who has connected, until the connection ends.
func (s *Server) noteDialLocked(ctx context.Context, client *memnet.Conn) {
	who, ok := pprof.Label(ctx, ClientLabel)
	if !ok {
		return
	}
	maps.DeleteFunc(s.dialed, func(c *memnet.Conn, _ string) bool { return c.Closed() })
	if s.dialed == nil {
		s.dialed = map[*memnet.Conn]string{}
	}
	s.dialed[client] = who
}

// logUnclosed names the clients that have not closed their connections.
func (s *Server) logUnclosed(tb TB) {
	log, ok := tb.(interface {
		Logf(format string, args ...any)
	})
	if !ok {
		return
	}
	tb.Helper()
	s.mu.Lock()
	dialed := maps.Clone(s.dialed)
	s.mu.Unlock()
	for client, who := range dialed {
		if !client.Closed() {
			log.Logf("zktest: a client was not closed: %s", who)
		}
	}
}
