package framework

import (
	"context"
	"fmt"
	"log/slog"
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
// been stable before the request was sent, because an unstable network says nothing
// about a request. So after two such ends in a row, the client sends the request only
// once the connection has been stable. An answer to the request ends the count.
//
// A long request fails if it was in flight at three such ends in a row and other
// requests were answered in between. A short request only pauses longer each time, and
// never fails because of this count. A request that creates a protected node does not
// fail either, because its caller relies on the client to find the node.
type hangUps struct {
	some atomic.Bool // byRequest is not empty; saves the lock

	mu        sync.Mutex                // protects the following field
	byRequest map[countedRequest]hangUp // an answer removes a request; at most requestsInMind are kept
}

// countedRequest identifies the attempts of the same operation. Long requests are
// counted separately, because they are not to blame for the ends with short ones.
type countedRequest struct {
	op, path string
	long     bool
}

type hangUp struct {
	ends       int       // connections in a row that have ended with the request in flight
	counted    int       // how many of these connections had been stable
	served     int       // how often other requests were answered between two ends that count
	answers    int       // the session's answers at the last end that counts
	connection time.Time // when the last connection was established; several callers may make the same request
	resume     time.Time // the end of the pause
}

const (
	longRequest    = 64 << 10
	mostHangUps    = 3
	heldAfter      = 500 * time.Millisecond
	requestsInMind = 1024
)

// await waits until the request may be sent, or until ctx, the session, or the
// connection of insider.Client.WhileConnected ends.
func (h *hangUps) await(ctx, connection context.Context, s *Session, r countedRequest) error {
	if !h.some.Load() {
		return nil
	}
	held, connected := s.link.Held()
	h.mu.Lock()
	short := h.byRequest[r]
	r.long = true // a guess: the length is known only when the request is sent
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
			s.client.log(slog.LevelWarn, "zookeeper connections end whenever a request is in flight",
				slog.String(semconv.Operation, r.op), slog.String(semconv.ZNodePath, r.path),
				slog.Int(semconv.RequestSize, lost.Size), slog.Int(semconv.ConnectionsEnded, u.ends))
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
