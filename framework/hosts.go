package framework

import (
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// hosts hands out the servers in rounds: each server once, in random order, so that
// clients spread over the ensemble. It is the zk.HostProvider of one session. The
// library calls hosts with a lock held, so hosts must not block; dial waits, refreshes
// the list of servers, and takes the next one.
type hosts struct {
	mu          sync.Mutex // protects the following fields
	servers     []string   // never empty
	next        int        // index of the server to try next
	tried       int        // servers in this round
	failed      bool       // no connection has been usable since the previous round
	rounds      int        // how many have failed
	connectedAt time.Time  // the last successful handshake, if no attempt has followed it
	pauses      backoff.BackOff
}

// Between rounds over all servers, the pauses grow from the shortest to the longest.
// The longest pause is short enough for several rounds within a common session timeout.
const (
	shortestRoundPause = 50 * time.Millisecond
	longestRoundPause  = time.Second
)

// newPauses returns pauses that double, at random, from the shortest to the longest.
func newPauses(shortest, longest time.Duration) backoff.BackOff {
	return backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(shortest),
		backoff.WithMaxInterval(longest),
		backoff.WithMultiplier(2),
		backoff.WithMaxElapsedTime(0),
	)
}

// The library calls Init with its own list of the servers, which Init ignores, because
// each dial resolves names.
func (h *hosts) Init([]string) error { return nil }

// Len returns the number of servers.
func (h *hosts) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.servers)
}

// Next returns the next server, unless the list is refreshed first. startOver is always
// false: if it were true, the library would pause for a second, but only dial should
// pause.
func (h *hosts) Next() (server string, startOver bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.servers[h.next], false
}

// The library calls Connected after a successful handshake.
func (h *hosts) Connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.connectedAt = time.Now()
}

// roundOver reports whether a new round is to begin, and how long to wait
// before the next attempt: not at all until every server has been tried once.
func (h *hosts) roundOver() (over bool, pause time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.judgeLastConnection()
	if h.tried < len(h.servers) {
		return false, 0
	}
	if h.failed {
		h.rounds++
		pause = h.pauses.NextBackOff()
	}
	return true, pause
}

// judgeLastConnection resets the round if the last connection has lasted for a while. A
// connection that breaks right after the handshake counts as a failed attempt, so that the
// client pauses before it dials a server that closes every connection.
func (h *hosts) judgeLastConnection() {
	if !h.connectedAt.IsZero() && time.Since(h.connectedAt) >= longestRoundPause {
		h.tried = len(h.servers)
		h.failed = false
		h.pauses.Reset()
	}
	h.connectedAt = time.Time{}
}

// failures returns how many rounds over all servers have failed. The number matters
// only until there is a session.
func (h *hosts) failures() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rounds
}

// begin starts a round. If the servers have not changed, begin keeps their order, so
// the server that has just failed comes last.
func (h *hosts) begin(servers []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tried = 0
	if !slices.Equal(unique(servers), unique(h.servers)) {
		h.servers, h.next = servers, 0
	}
}

// take returns the server to try now.
func (h *hosts) take() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	server := h.servers[h.next]
	h.next = (h.next + 1) % len(h.servers)
	h.tried++
	h.failed = true
	return server
}
