package zktest

import (
	"context"
	"maps"
	"runtime/pprof"
	"sync"

	"github.com/gocurator/curator/testing/zktest/internal/memnet"
)

// ClientLabel is the label of a dialer's context that says who connects: one of
// [runtime/pprof.WithLabels]. A client that has it, and is still connected when
// the test ends, is named in the test's log: a bubble of testing/synctest
// panics then, and its trace does not say whose goroutines are left.
const ClientLabel = "curator.client"

// dialers are the clients that have dialed a server within the process, and
// have said who they are.
type dialers struct {
	mu     sync.Mutex
	byConn map[*memnet.Conn]string // the keys are the clients' ends; nil until there is one
}

// note keeps in mind who has connected, until the connection ends.
func (d *dialers) note(ctx context.Context, client *memnet.Conn) {
	who, ok := pprof.Label(ctx, ClientLabel)
	if !ok {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.byConn, func(c *memnet.Conn, _ string) bool { return c.Closed() })
	if d.byConn == nil {
		d.byConn = map[*memnet.Conn]string{}
	}
	d.byConn[client] = who
}

// logUnclosed names the clients that have not closed their connections.
func (d *dialers) logUnclosed(tb TB) {
	log, ok := tb.(interface {
		Logf(format string, args ...any)
	})
	if !ok {
		return
	}
	tb.Helper()
	d.mu.Lock()
	byConn := maps.Clone(d.byConn) // Logf is the user's, who may dial
	d.mu.Unlock()
	for client, who := range byConn {
		if !client.Closed() {
			log.Logf("zktest: a client was not closed: %s", who)
		}
	}
}
