package framework

import (
	"sync"
	"time"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
)

// lostMultiReads is what a client remembers of multiReads that have gone wrong on
// any of its connections. A server, or a proxy, may hang up on all of them, or on
// those with a long answer. A connection may also end with one by accident.
//
// So a client whose servers have answered none gives up at once. Another one
// sends fewer paths from then on, and gives up when that has not helped. It
// forgets that in time: a client that lives for long sees many accidents.
type lostMultiReads struct {
	mu       sync.Mutex
	answered bool      // a server has answered one, or has begun to
	lost     int       // connections that have ended with one, or with a probe
	most     int       // paths of a multiRead, or 0 for any number
	last     time.Time // the time of the last loss
	longest  int       // the paths of the longest one that was answered since then
	givenUp  bool      // for as long as the client lives
}

const (
	mostLost = 5 // connections

	lossesForgotten = 24 * time.Hour

	// leastPaths is how many paths a multiRead may always have. A cache has to read
	// its hot nodes with one request.
	leastPaths = 64
)

// endedWith is told what a connection has ended with. Servers answer in order, so
// the first multiRead is the one that counts.
func (m *lostMultiReads) endedWith(all []transport.Unanswered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range all {
		if r.Op == proto.OpMultiRead || r.Probe {
			m.forgetLocked()
			m.lost++
			m.last = time.Now()
			m.answered = m.answered || r.Taken
			m.givenUp = m.givenUp || !m.answered
			m.fewerLocked(r)
			return
		}
	}
}

func (m *lostMultiReads) forgetLocked() {
	if time.Since(m.last) > lossesForgotten {
		m.lost, m.most = 0, 0
	}
}

// fewerLocked takes fewer paths from then on. If as many were answered before, the
// length is not likely to be the reason.
func (m *lostMultiReads) fewerLocked(r transport.Unanswered) {
	if r.Probe {
		return
	}
	paths, answered := proto.CountReads(r.Payload(nil)), m.longest
	m.longest = 0
	n := max(leastPaths, paths/2)
	if paths > answered && (m.most == 0 || n < m.most) {
		m.most = n
	}
}

// hasRead is told how many paths a multiRead had that was answered.
func (m *lostMultiReads) hasRead(paths int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.longest = max(m.longest, paths)
}

// answeredWith is told of each answer to a multiRead.
func (m *lostMultiReads) answeredWith(code int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answered = m.answered || code == proto.CodeOK
	m.givenUp = m.givenUp || code == proto.CodeUnimplemented
}

// answeredRemoval is told of each answer to a removeWatches, as the probe is. A
// server that does not know that knows no multiRead either, and may hang up.
func (m *lostMultiReads) answeredRemoval(code int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.givenUp = m.givenUp || code == proto.CodeUnimplemented
}

func (m *lostMultiReads) hasGivenUp() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetLocked()
	return m.givenUp || m.lost >= mostLost
}

func (m *lostMultiReads) allows(paths int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetLocked()
	return m.most == 0 || paths <= m.most
}
