package framework

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/internal/semconv"
)

// suspects are requests with which connections have ended, one after the other,
// and which no server has answered since. A server hangs up on a request that is
// longer than it takes, or that it does not know. An answer may take longer than
// the client waits for a sign of life. Such a request would be made again and
// again, and each time all that is under way is interrupted with it.
//
// A request that has ended several connections in a row is not sent on a fresh
// one. If a connection holds for a while, and ends when the request is sent, that
// is the proof, and no matter of a network that breaks all the time. From then
// on, the request is held back for longer each time, so that the others go on.
// Those of them that were only under way with it are answered meanwhile, and no
// suspects any more.
type suspects struct {
	some atomic.Bool // whether there is any; saves the lock

	mu           sync.Mutex // protects the following fields
	byRequest    map[requestID]*suspect
	noContainers bool // there is a proof for createContainer, and it was not answered since
}

// requestID is what the attempts at the same request have in common.
type requestID struct{ op, path string }

type suspect struct {
	requestID
	size   int // of the shortest, in bytes
	ends   int // of connections, in a row
	proofs int // of these, that had held until the request was sent
	told   bool

	last   time.Time
	until  time.Time // when it is held back no longer, once there is a proof
	pauses backoff.BackOff
}

const (
	// manyEnds is how many connections must have ended with a request before it
	// is a matter of the request.
	manyEnds = 4

	// provenAfter is the age at which a connection has shown that it holds.
	provenAfter = 500 * time.Millisecond

	shortestHold = 2 * time.Second
	longestHold  = time.Minute

	// A request that is not made again is not kept in mind for long.
	suspectsForgotten = 5 * time.Minute
	maxSuspects       = 1024
)

// endedWith is called when a connection has ended with requests that were not
// answered.
func (s *Session) endedWith(all []transport.Unanswered) {
	c := s.client
	if found := c.suspects.endedWith(all); found != nil {
		what := "zookeeper servers end the connection whenever they get a request"
		if found.isContainer() {
			what = "zookeeper servers end the connection whenever a container is created: " +
				"missing parents are created as persistent nodes"
		}
		c.warnOfSuspect(what, found)
	}
	c.persistent.endedWith(s.watches, all)
	s.watches.endedWith(all)
}

// answered is called with every request that is answered.
func (s *Session) answered(r transport.Request) {
	s.client.suspects.answered(r)
	if r.Op == proto.OpSetWatches {
		s.watches.setAgain(r)
	}
}

func (c *core) warnOfSuspect(what string, found *hangUpError) {
	c.cfg.logger.Warn(what, slog.String(semconv.Operation, found.op), slog.String(semconv.ZNodePath, found.path),
		slog.Int(semconv.RequestSize, found.size), slog.Int(semconv.ConnectionsEnded, found.ends))
}

// hangUpError says that connections have ended with a request.
type hangUpError struct {
	requestID
	size, ends int
}

func (e *hangUpError) Error() string {
	return fmt.Sprintf("the last %d connections have ended with this request under way: %s %s, %d bytes",
		e.ends, e.op, printable.String(e.path), e.size)
}

func (id requestID) isContainer() bool { return id.op == opCreateContainer }

var opCreateContainer, _ = proto.Describe(proto.OpCreateContainer, nil)

// errHeldBack ends an attempt at a request that is held back.
var errHeldBack = errors.New("request held back")

// protection is the part of a node's name that is another one in each attempt.
var protection = regexp.MustCompile(`/_c_[0-9a-f-]{36}-`)

// identify returns what a request is, and its length.
func identify(r transport.Request) (id requestID, size int) {
	payload := r.Payload(nil)
	op, path := proto.Describe(r.Op, payload)
	return requestID{op, protection.ReplaceAllString(path, "/")}, requestHeaderSize + len(payload)
}

const requestHeaderSize = 4 + 4

// endedWith returns a request that the log is to be told of, or nil: one for
// which there is a proof, if no other kind of request is as suspicious.
func (x *suspects) endedWith(all []transport.Unanswered) (tell *hangUpError) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.forgetLocked()
	var suspicious []*suspect
	known := map[requestID]bool{} // several callers may have made the same request
	for _, r := range all {
		id, size := identify(r.Request)
		p := x.addLocked(id, size)
		if p == nil || known[id] {
			continue
		}
		known[id] = true
		if p.ended(size, r.Held >= provenAfter) {
			suspicious = append(suspicious, p)
		}
	}
	x.some.Store(len(x.byRequest) > 0)
	return x.provenLocked(suspicious)
}

// ended reports whether the request has ended too many connections.
func (p *suspect) ended(size int, held bool) bool {
	p.size, p.last = min(p.size, size), time.Now()
	if held {
		p.proofs++
	}
	if p.ends++; p.ends < manyEnds {
		return false
	}
	if p.proofs > 0 {
		p.until = p.last.Add(p.pauses.NextBackOff())
	}
	return true
}

func (x *suspects) provenLocked(suspicious []*suspect) (tell *hangUpError) {
	for _, p := range suspicious {
		if p.op != suspicious[0].op {
			return nil
		}
	}
	for _, p := range suspicious {
		if p.proofs == 0 || p.told || p.isWatch() {
			continue
		}
		x.noContainers = x.noContainers || p.isContainer()
		p.told = true
		return p.errorLocked()
	}
	return nil
}

// isWatch reports whether the request is for a persistent watch, or for standard
// watches that are set again. See the other functions endedWith.
func (id requestID) isWatch() bool { return id.op == opAddWatch || id.op == opSetWatches }

var opAddWatch, _ = proto.Describe(proto.OpAddWatch, nil)

func (x *suspects) addLocked(id requestID, size int) *suspect {
	p := x.byRequest[id]
	if p == nil && len(x.byRequest) < maxSuspects {
		p = &suspect{requestID: id, size: size, pauses: backoff.NewExponentialBackOff(
			backoff.WithInitialInterval(shortestHold),
			backoff.WithMaxInterval(longestHold),
			backoff.WithMultiplier(2),
			backoff.WithRandomizationFactor(0.25),
			backoff.WithMaxElapsedTime(0),
		)}
		if x.byRequest == nil {
			x.byRequest = map[requestID]*suspect{}
		}
		x.byRequest[id] = p
	}
	return p
}

func (x *suspects) forgetLocked() {
	for id, p := range x.byRequest {
		if time.Since(p.last) > suspectsForgotten {
			delete(x.byRequest, id)
		}
	}
}

func (p *suspect) errorLocked() *hangUpError { return &hangUpError{p.requestID, p.size, p.ends} }

// answered is called with every request that is answered. A shorter one says
// nothing of those that are too long.
func (x *suspects) answered(r transport.Request) {
	if !x.some.Load() {
		return
	}
	id, size := identify(r)
	x.mu.Lock()
	defer x.mu.Unlock()
	if id.isContainer() {
		x.noContainers = false
	}
	if p := x.byRequest[id]; p != nil && (size >= p.size || p.ends < manyEnds) {
		delete(x.byRequest, id)
	}
	x.some.Store(len(x.byRequest) > 0)
}

// about returns why a request is suspicious, and for how long it is held back if
// there is a proof. It returns nil for every other request.
func (x *suspects) about(r transport.Request) (why *hangUpError, proven bool, left time.Duration) {
	if !x.some.Load() {
		return nil, false, 0
	}
	id, size := identify(r)
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.byRequest[id]
	if p == nil || p.ends < manyEnds || size < p.size {
		return nil, false, 0
	}
	return p.errorLocked(), p.proofs > 0, time.Until(p.until)
}

// endContainers reports whether servers end the connection when they are asked
// for a container.
func (x *suspects) endContainers() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.noContainers
}

// holdBack waits before a suspicious request is sent: until the connection has
// held for a while, or as long as the request is held back. If that takes longer
// than a second, it returns an error after a second, so that callers that try
// again at once have a pause.
func (s *Session) holdBack(ctx context.Context, r transport.Request) error {
	why, proven, left := s.client.suspects.about(r)
	if held, ok := s.link.Held(); ok && why != nil && !proven {
		left = provenAfter - held
	}
	if left <= 0 {
		return nil
	}
	pause := time.NewTimer(min(left, time.Second))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", notSent(ctx), why)
	case <-s.ctx.Done():
		return s.sessionError(zk.ErrNoServer)
	}
	if left > time.Second {
		return fmt.Errorf("%w: %w", errHeldBack, why)
	}
	return nil
}

// isHeldBack reports whether a request is not to be sent now.
func (x *suspects) isHeldBack(r transport.Request) bool {
	_, proven, left := x.about(r)
	return proven && left > 0
}

// lostAgain adds to the error of a request whose reply was lost that this was not the
// first connection to end with it, or with the watches that are set before it.
func (s *Session) lostAgain(err error, r transport.Request) error {
	if why, _, _ := s.client.suspects.about(r); why != nil {
		err = fmt.Errorf("%w: %w", err, why)
	}
	if why := s.watches.interruption(); why != nil {
		err = fmt.Errorf("%w: %w", err, why)
	}
	return err
}
