package framework

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
)

// hangUps counts, for each request, the connections of a session that have ended while
// the request was in flight. Whenever the client repeats such a request, the end of the
// connection interrupts all other requests. An end counts only if the connection had
// held before the request was sent: a network that breaks all the time says nothing
// about a request. So a request that was in flight at two ends in a row is not sent
// before the connection has held. An answer to the request ends the count.
//
// A long request fails when it was in flight at three such ends in a row, and other
// requests were answered in between. A short request pauses for longer each time, and
// this count never makes it fail. A request that makes a protected node does not fail
// either: its caller relies on the client to find the node.
type hangUps struct {
	some atomic.Bool // byRequest is not empty; saves the lock

	mu        sync.Mutex                // protects the following field
	byRequest map[countedRequest]hangUp // an answer removes a request; requestsInMind of them make room for others
}

// countedRequest is what the attempts at the same operation have in common. Long
// requests are counted apart: they are not to blame for the ends with short ones.
type countedRequest struct {
	op, path string
	long     bool
}

type hangUp struct {
	ends       int       // connections in a row that have ended with the request in flight
	counted    int       // how many of them had held
	served     int       // how often others were answered from one end that counts to the next
	answers    int       // of the session, at the last end that counts
	connection time.Time // when the last one was established; several callers may make the same request
	resume     time.Time // the end of the pause
}

const (
	longRequest    = 64 << 10
	mostHangUps    = 3
	heldAfter      = 500 * time.Millisecond
	requestsInMind = 1024
)

// await waits until the request may be sent, but not longer than to the end of ctx, the
// session, or the connection of insider.Client.WhileConnected.
func (h *hangUps) await(ctx, connection context.Context, s *Session, r countedRequest) error {
	if !h.some.Load() {
		return nil
	}
	held, connected := s.link.Held()
	h.mu.Lock()
	short := h.byRequest[r]
	r.long = true // perhaps: the length is known when the request is sent
	long := h.byRequest[r]
	h.mu.Unlock()
	left, ends := max(time.Until(short.resume), time.Until(long.resume)), max(short.ends, long.ends)
	if ends >= 2 {
		left = max(left, heldAfter-held)
	}
	if left <= 0 || !connected {
		return nil
	}
	pause := time.NewTimer(left)
	defer pause.Stop()
	select {
	case <-pause.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: the last %d connections have ended with this request in flight", notSent(ctx), ends)
	case <-s.ctx.Done():
	case <-connection.Done():
	}
	return s.sessionError(zk.ErrNoServer)
}

// attempted counts the attempt, which has ended with err, and returns what the
// caller gets.
func (h *hangUps) attempted(s *Session, r countedRequest, err error) error {
	var lost *lostError
	if !reason.As(err, &lost) && (!h.some.Load() || err != nil && !IsRefusal(err)) {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	defer func() { h.some.Store(len(h.byRequest) > 0) }()
	if lost == nil {
		delete(h.byRequest, r)
		r.long = true
		delete(h.byRequest, r)
		return err
	}
	r.long = lost.Size >= longRequest
	u := h.byRequest[r]
	if !u.connection.Equal(lost.Established) {
		if u.count(lost, s.link.Answers()); u.counted == mostHangUps {
			s.client.cfg.logger.Warn("zookeeper connections end whenever a request is in flight", semconv.Operation, r.op,
				semconv.ZNodePath, r.path, semconv.RequestSize, lost.Size, semconv.ConnectionsEnded, u.ends)
		}
	}
	fails := u.served >= mostHangUps-1 && r.long && !lost.protected
	if fails {
		u.resume = time.Time{} // a shorter request of the same operation need not wait
	}
	if len(h.byRequest) >= requestsInMind || h.byRequest == nil {
		h.byRequest = map[countedRequest]hangUp{}
	}
	h.byRequest[r] = u
	if !fails {
		return err
	}
	if reason.Is(err, ErrOutcomeUnknown) {
		return unknownOutcome(&HangUpError{lost.Size, u.ends})
	}
	return &HangUpError{lost.Size, u.ends}
}

// count counts the end of a connection.
func (u *hangUp) count(lost *lostError, answers int) {
	u.ends++
	u.connection = lost.Established
	if lost.Held < heldAfter {
		return
	}
	if u.counted++; u.counted > 1 && u.answers != answers {
		u.served++
	}
	u.answers = answers
	if u.counted >= mostHangUps {
		const doublings = 3 // up to 8 s: a caller that tries fifty times ends within minutes
		u.resume = time.Now().Add(time.Second << min(u.counted-mostHangUps, doublings))
	}
}
