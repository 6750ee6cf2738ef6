package watches

import (
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/suspects"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/semconv"
)

// replays is what a session knows of setWatches: the request with which every
// connection that is made again sets the standard watches again, and which looks
// make later. A server may hang up on it, because it does not know it, or takes
// no request of that length. Then the client would connect and be cut off for
// ever.
//
// So the watches are not set again when several connections in a row have ended
// with such a request. They end without an event of the server. Those who wait
// look again, and set new ones by that. This is safe, and is done without a
// proof: the network may be the reason.
//
// A replay is sent as soon as there is a connection. If the connection ends
// then, that proves nothing, because it has never held for a while. When a
// connection without a replay has held for a while, setWatches is tried on it.
// If the connection ends with that, it is a matter of the request. From then
// on, the session makes no such request.
//
// The mutex Session.mu protects the fields.
type replays struct {
	ends    int // how many connections in a row have ended with such a request
	proofs  int // how many of them had held until the request was sent
	size    int // the length of the shortest of these requests, in bytes
	refused bool

	last *replayError // the newest end, if there were several, or nil
	when time.Time    // the time of the newest end
}

// replayError says that connections have ended with setWatches.
type replayError struct{ watches, size, ends int }

func (e *replayError) Error() string {
	return fmt.Sprintf("the last %d connections have ended with this request under way: %s, %d watches, %d bytes",
		e.ends, opSetWatches, e.watches, e.size)
}

var opSetWatches, _ = proto.Describe(proto.OpSetWatches, nil)

// endedWithReplay is EndedWith for setWatches.
func (ws *Session) endedWithReplay(all []transport.Unanswered) {
	i := slices.IndexFunc(all, func(r transport.Unanswered) bool { return r.Op == proto.OpSetWatches })
	if i < 0 {
		return
	}
	if found := ws.noteEnd(all[i]); found != nil {
		ws.owner.Log.Warn("zookeeper servers end the connection whenever they are asked to set watches again: "+
			"those who wait for changes look after each reconnect instead",
			slog.String(semconv.Operation, opSetWatches), slog.Int(semconv.RequestWatches, found.watches),
			slog.Int(semconv.RequestSize, found.size), slog.Int(semconv.ConnectionsEnded, found.ends))
	}
}

// noteEnd returns what the log is to be told, or nil.
func (ws *Session) noteEnd(r transport.Unanswered) (tell *replayError) {
	_, size := suspects.Identify(r.Request)
	ws.mu.Lock()
	defer ws.mu.Unlock()
	p := &ws.replays
	if p.ends == 0 || size < p.size {
		p.size = size
	}
	if r.Held >= suspects.ProvenAfter {
		p.proofs++
	}
	if p.ends++; !p.areSuspicious() {
		return nil
	}
	p.last, p.when = &replayError{proto.CountWatches(r.Payload(nil)), size, p.ends}, time.Now()
	if p.proofs == 0 || p.refused {
		return nil
	}
	p.refused = true
	return p.last
}

// SetAgain is called when setWatches is answered. A shorter request says nothing
// of those that are too long.
func (ws *Session) SetAgain(r transport.Request) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if !ws.replays.areSuspicious() {
		ws.replays = replays{}
	} else if _, size := suspects.Identify(r); size >= ws.replays.size {
		ws.replays = replays{}
	}
}

func (p *replays) areSuspicious() bool { return p.ends >= suspects.Many }

// endUnlessReplayedLocked ends the watches if they are not to be set again on a
// new connection.
func (ws *Session) endUnlessReplayedLocked() {
	p := &ws.replays
	if !p.areSuspicious() {
		return
	}
	for key, w := range ws.shared {
		if w.isSet {
			w.finishLocked(zk.Event{Type: zk.EventNotWatching, State: zk.StateDisconnected, Path: key.Path}, nil)
		}
	}
	if p.refused {
		return
	}
	select {
	case ws.probes <- struct{}{}:
	default:
	}
}

// Interruption returns why the newest connection has ended, if that was just now
// and several had ended with setWatches, or nil. It is for requests whose reply
// was lost with the connection.
func (ws *Session) Interruption() error {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if p := &ws.replays; p.last != nil && time.Since(p.when) < suspects.ProvenAfter {
		return p.last
	}
	return nil
}

// probe finds out whether the server takes setWatches, on a connection that has
// held for a while without.
func (ws *Session) probe() {
	sleep(ws.owner.Context, 2*suspects.ProvenAfter)
	if ws.owner.Context.Err() != nil {
		return
	}
	if held, ok := ws.link.Held(); !ok || held < suspects.ProvenAfter {
		return // the next connection is tried
	}
	isAnswered(ws.sendProbe())
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.lookingSince = math.MaxInt64
}

// sendProbe sends what a replay would send. The server has the watches, and so
// has told all that has happened. The request asks for no more than that.
func (ws *Session) sendProbe() []*transport.Call {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if !ws.replays.areSuspicious() || ws.replays.refused {
		return nil
	}
	var all []transport.SetWatch
	for key, w := range ws.shared {
		if w.isSet && ws.persistent.byPath[key.Path] == nil {
			all = append(all, transport.SetWatch{Watch: key, Missing: w.missing})
		}
	}
	ws.lookingSince = ws.link.LastZxid()
	return ws.link.SetWatches(ws.lookingSince, all)
}
