package zktest

import (
	"context"
	"fmt"
	"maps"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/memnet"
)

// clientLabel is a label of [runtime/pprof.WithLabels] in the dialer's context. It names the
// client, and package framework sets it. At the end of a test, the test's log names clients
// that are still connected. The log also names disconnected clients whose goroutines are left:
// a bubble of testing/synctest panics then, and its trace does not name the client.
const clientLabel = "curator.client"

// mostDialers bounds how many clients are remembered.
const mostDialers = 10_000

// dialers has the labelled clients that have dialed a server within the process.
type dialers struct {
	mu   sync.Mutex
	last map[string]*memnet.Conn // the client's end of the last connection; nil if it was refused
}

// note records the client that has dialed, and the connection, if there is one.
func (d *dialers) note(ctx context.Context, client *memnet.Conn) {
	who, ok := pprof.Label(ctx, clientLabel)
	if !ok {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last == nil {
		d.last = map[string]*memnet.Conn{}
	}
	if _, known := d.last[who]; known || len(d.last) < mostDialers {
		d.last[who] = client
	}
}

// connected adds each client, and whether it is connected, to a map.
func (d *dialers) connected(of map[string]bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for who, client := range d.last {
		of[who] = of[who] || client != nil && !client.Closed()
	}
}

// closeAtTheEnd closes servers when a test has ended. Then it names the clients
// in the test's log that were not closed. It fails the test if a rule has hit no
// request, unless the test has failed for another reason.
func closeAtTheEnd(tb TB, closeAll func() error, servers ...*Server) {
	tb.Helper()
	connected := map[string]bool{}
	for _, s := range servers {
		s.dialers.connected(connected)
	}
	_ = closeAll() // ends goroutines of the servers that have the labels of clients
	if log, ok := tb.(interface{ Logf(string, ...any) }); ok {
		left := leftBehind(slices.Collect(maps.Keys(connected)))
		for _, who := range slices.Sorted(maps.Keys(connected)) {
			if connected[who] || slices.Contains(left, who) {
				log.Logf("zktest: a client was not closed: %s", who)
			}
		}
	}
	if test, ok := tb.(interface{ Failed() bool }); ok && test.Failed() {
		return
	}
	if unused := servers[0].unused(); len(unused) > 0 {
		tb.Fatalf("zktest: a rule that is not Optional has hit no request:\n%s", strings.Join(unused, "\n"))
	}
}

const (
	// looksForGoroutines is how often to look for goroutines that are left. The
	// goroutines of a client that was just closed may still be ending.
	looksForGoroutines = 3

	// goroutinesEnd is the time between two checks. In a bubble, all that can go
	// on does so before it is over.
	goroutinesEnd = 10 * time.Millisecond
)

// leftBehind returns the clients of which there are goroutines.
func leftBehind(clients []string) []string {
	for n := range looksForGoroutines {
		if len(clients) == 0 {
			break
		}
		if n > 0 {
			sleep(goroutinesEnd, nil)
		}
		var profile strings.Builder
		_ = pprof.Lookup("goroutine").WriteTo(&profile, 1) // a Builder takes everything
		clients = slices.DeleteFunc(clients, func(who string) bool {
			return !strings.Contains(profile.String(), fmt.Sprintf("%q:%q", clientLabel, who))
		})
	}
	return clients
}
