// Package suspects finds the requests on which servers hang up, by the
// connections that end with them.
package suspects

import (
	"fmt"
	"log/slog"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/internal/semconv"
)

// Suspects are requests with which connections have ended, one after the other,
// and which no server has answered since. A server hangs up on a request that is
// longer than it takes, or that it does not know. An answer may take longer than
// the client waits for a sign of life. Such a request would be made again and
// again, and each time all that is under way is interrupted with it.
//
// A request that has ended several connections in a row is not sent on a fresh
// one. If a connection holds for a while, and ends when the request is sent, that
// is the proof, and no matter of a network that breaks all the time. From then
// on, the request is held back for longer each time, so that the others go on.
// Requests that were only under way with it are answered meanwhile, and are
// suspects no longer.
type Suspects struct {
	some atomic.Bool // whether byRequest has any; saves the lock

	mu           sync.Mutex // protects the following fields
	byRequest    map[Request]*suspect
	noContainers time.Time // the last proof for createContainer, which was not answered since
}

// Request is what the attempts at the same request have in common.
type Request struct{ Op, Path string }

type suspect struct {
	Request
	size   int // the length of the shortest attempt, in bytes
	ends   int // how many connections in a row have ended with it
	proofs int // how many of them had held until it was sent
	told   bool

	last   time.Time
	until  time.Time // it is held back until then, once there is a proof
	pauses backoff.BackOff
}

const (
	// Many is how many connections must have ended with a request before it is
	// a matter of the request.
	Many = 4

	// ProvenAfter is the age at which a connection has shown that it holds.
	ProvenAfter = 500 * time.Millisecond

	shortestHold = 2 * time.Second
	longestHold  = time.Minute

	// A request that is not made again is not kept in mind for long.
	suspectsForgotten = 5 * time.Minute
	maxSuspects       = 1024

	// Parents that are persistent stay for ever.
	containersForgotten = 24 * time.Hour
)

// HangUpError says that connections have ended with a request.
type HangUpError struct {
	Request
	Size, Ends int
}

// Error returns the request, and how many connections have ended with it.
func (e *HangUpError) Error() string {
	return fmt.Sprintf("the last %d connections have ended with this request under way: %s %s, %d bytes",
		e.Ends, e.Op, printable.String(e.Path), e.Size)
}

// Warn writes a line to the log. It says what, and which request that is.
func (e *HangUpError) Warn(log *slog.Logger, what string) {
	log.Warn(what, slog.String(semconv.Operation, e.Op), slog.String(semconv.ZNodePath, e.Path),
		slog.Int(semconv.RequestSize, e.Size), slog.Int(semconv.ConnectionsEnded, e.Ends))
}

// IsContainer reports whether the request is to create a container.
func (id Request) IsContainer() bool { return id.Op == opCreateContainer }

var opCreateContainer, _ = proto.Describe(proto.OpCreateContainer, nil)

// protection is the part of a node's name that is another one in each attempt.
var protection = regexp.MustCompile(`/_c_[0-9a-f-]{36}-`)

// Identify returns what a request is, and its length.
func Identify(r transport.Request) (id Request, size int) {
	payload := r.Payload(nil)
	op, path := proto.Describe(r.Op, payload)
	return Request{op, protection.ReplaceAllString(path, "/")}, requestHeaderSize + len(payload)
}

const requestHeaderSize = 4 + 4

// EndedWith returns a request that the log is to be told of, or nil: one for
// which there is a proof, if no other kind of request is as suspicious.
func (x *Suspects) EndedWith(all []transport.Unanswered) (tell *HangUpError) {
	if len(all) == 1 && all[0].Taken && all[0].Op == proto.OpCreateContainer {
		x.Answered(all[0].Request) // the server knows it, and its answer is never long
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.forgetLocked()
	if !x.noContainers.IsZero() && areContainersAlone(all) {
		x.noContainers = time.Now() // it takes no second series of connections to be sure again
	}
	var suspicious []*suspect
	known := map[Request]bool{} // several callers may have made the same request
	for _, r := range all {
		id, size := Identify(r.Request)
		p := x.addLocked(id, size)
		if p == nil || known[id] {
			continue
		}
		known[id] = true
		held := r.Held >= ProvenAfter
		if p.ended(size, held) {
			suspicious = append(suspicious, p)
		}
	}
	x.some.Store(len(x.byRequest) > 0)
	return x.provenLocked(suspicious)
}

// areContainersAlone reports whether a connection that has held was asked for
// containers, and for nothing else. What ends it with other requests, too, may be
// an accident.
func areContainersAlone(all []transport.Unanswered) bool {
	for _, r := range all {
		if r.Op != proto.OpCreateContainer || r.Held < ProvenAfter {
			return false
		}
	}
	return len(all) > 0
}

// ended reports whether the request has ended too many connections.
func (p *suspect) ended(size int, held bool) bool {
	p.size, p.last = min(p.size, size), time.Now()
	if held {
		p.proofs++
	}
	if p.ends++; p.ends < Many {
		return false
	}
	if p.proofs > 0 {
		p.until = p.last.Add(p.pauses.NextBackOff())
	}
	return true
}

func (x *Suspects) provenLocked(suspicious []*suspect) (tell *HangUpError) {
	for _, p := range suspicious {
		if p.Op != suspicious[0].Op {
			return nil
		}
	}
	for _, p := range suspicious {
		if p.proofs == 0 || p.told || p.isWatch() {
			continue
		}
		if p.IsContainer() {
			x.noContainers = time.Now()
		}
		p.told = true
		return p.errorLocked()
	}
	return nil
}

// isWatch reports whether the request is for a persistent watch, or for standard
// watches that are set again. Package watches finds out about these, and tells.
func (id Request) isWatch() bool { return id.Op == opAddWatch || id.Op == opSetWatches }

var (
	opAddWatch, _   = proto.Describe(proto.OpAddWatch, nil)
	opSetWatches, _ = proto.Describe(proto.OpSetWatches, nil)
)

func (x *Suspects) addLocked(id Request, size int) *suspect {
	p := x.byRequest[id]
	if p == nil && len(x.byRequest) < maxSuspects {
		p = &suspect{Request: id, size: size, pauses: backoff.NewExponentialBackOff(
			backoff.WithInitialInterval(shortestHold),
			backoff.WithMaxInterval(longestHold),
			backoff.WithMultiplier(2),
			backoff.WithRandomizationFactor(0.25),
			backoff.WithMaxElapsedTime(0),
		)}
		if x.byRequest == nil {
			x.byRequest = map[Request]*suspect{}
		}
		x.byRequest[id] = p
	}
	return p
}

func (x *Suspects) forgetLocked() {
	for id, p := range x.byRequest {
		if time.Since(p.last) > suspectsForgotten {
			delete(x.byRequest, id)
		}
	}
}

func (p *suspect) errorLocked() *HangUpError { return &HangUpError{p.Request, p.size, p.ends} }

// Answered is called with every request that is answered. A shorter one says
// nothing of those that are too long.
func (x *Suspects) Answered(r transport.Request) {
	if !x.some.Load() && r.Op != proto.OpCreateContainer { // noContainers may be the last that is known
		return
	}
	id, size := Identify(r)
	x.mu.Lock()
	defer x.mu.Unlock()
	if id.IsContainer() {
		x.noContainers = time.Time{}
	}
	if p := x.byRequest[id]; p != nil && (size >= p.size || p.ends < Many) {
		delete(x.byRequest, id)
	}
	x.some.Store(len(x.byRequest) > 0)
}

// About returns why a request is suspicious, and for how long it is held back if
// there is a proof. It returns nil for every other request.
func (x *Suspects) About(r transport.Request) (why *HangUpError, proven bool, left time.Duration) {
	if !x.some.Load() {
		return nil, false, 0
	}
	id, size := Identify(r)
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.byRequest[id]
	if p == nil || p.ends < Many || size < p.size {
		return nil, false, 0
	}
	return p.errorLocked(), p.proofs > 0, time.Until(p.until)
}

// EndContainers reports whether servers end the connection when they are asked
// for a container. After a day, the client finds out again: the servers may be
// newer by then, or it was the network. An answer is the end of it.
func (x *Suspects) EndContainers() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.noContainers.IsZero() && time.Since(x.noContainers) <= containersForgotten
}

// IsHeldBack reports whether a request is not to be sent now.
func (x *Suspects) IsHeldBack(r transport.Request) bool {
	_, proven, left := x.About(r)
	return proven && left > 0
}
