package framework

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// hosts hands out the servers in turn, starting anywhere so that clients spread over the ensemble. It is the
// zk.HostProvider of one session.
type hosts struct {
	ended func() bool // the session is over: make the library stop

	mu       sync.Mutex // protects the following fields
	servers  []string
	next     int
	attempts int       // since the last connection that was of use
	greeted  time.Time // the last successful handshake, if no attempt has followed it
	pauses   backoff.BackOff
}

// Between rounds over all servers the pauses grow from the shortest to the longest. The longest is short enough to
// come back several times within a common session timeout.
const (
	shortestRoundPause = 50 * time.Millisecond
	longestRoundPause  = time.Second
)

func newHosts(servers []string, ended func() bool) *hosts {
	return &hosts{
		ended:   ended,
		servers: servers,
		next:    rand.IntN(len(servers)),
		pauses: backoff.NewExponentialBackOff(
			backoff.WithInitialInterval(shortestRoundPause),
			backoff.WithMaxInterval(longestRoundPause),
			backoff.WithMultiplier(2),
			backoff.WithMaxElapsedTime(0),
		),
	}
}

// Init is called by the library with its own idea of the servers, which is not needed: names are resolved by each dial.
func (h *hosts) Init([]string) error { return nil }

// Len returns the number of servers.
func (h *hosts) Len() int { return len(h.servers) }

// Next returns the server to try now. The library looks for its own Close, and gives up requests it could not send,
// only when told to start over; that is wanted when the session is over, and only then.
func (h *hosts) Next() (server string, startOver bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.judgeLastConnection()
	server = h.servers[h.next]
	h.next = (h.next + 1) % len(h.servers)
	h.attempts++
	return server, h.ended()
}

// Connected is called by the library after a successful handshake.
func (h *hosts) Connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.greeted = time.Now()
}

// judgeLastConnection starts the pauses anew if the connection has lasted for a while. One that breaks right after the
// handshake counts as an attempt that failed: a server that ends every connection must not be asked without a pause.
func (h *hosts) judgeLastConnection() {
	if !h.greeted.IsZero() && time.Since(h.greeted) >= longestRoundPause {
		h.attempts = 0
		h.pauses.Reset()
	}
	h.greeted = time.Time{}
}

// pause returns how long to wait before the present attempt: not at all until every server has been tried once.
func (h *hosts) pause() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.attempts <= 1 || (h.attempts-1)%len(h.servers) != 0 {
		return 0
	}
	return h.pauses.NextBackOff()
}
