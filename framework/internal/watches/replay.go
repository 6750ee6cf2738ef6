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
// no request of that length. Or it answers with an error, and the client ends
// the connection, for the watches are not there. Then the client would connect
// and be cut off for ever.
//
// So the watches are not set again when several connections in a row have ended
// with such a request. They end without an event of the server. Those who wait
// look again, and set new ones by that. This is safe, and is done without a
// proof: the network may be the reason.
//
// A replay is sent as soon as there is a connection. If the connection ends
// then, that proves nothing, because it has never held for a while. When a
// connection without a replay has held for a while, setWatches is tried on it.
// If the connection ends with that, it is a matter of the request. It is, too,
// if the server answers with an error. From then on, the session makes no such
// request.
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
type replayError struct {
	watches, size, ends int
	refusal             error // the server's answer to the last one, or nil
}

func (e *replayError) Error() string {
	text := fmt.Sprintf("the last %d connections have ended with this request under way: %s, %d watches, %d bytes",
		e.ends, opSetWatches, e.watches, e.size)
	if e.refusal != nil {
		text += ", answered with: " + e.refusal.Error()
	}
	return text
}

// warn writes a line to the log.
func (e *replayError) warn(log *slog.Logger) {
	what := "zookeeper servers end the connection whenever they are asked to set watches again"
	attrs := []any{
		slog.String(semconv.Operation, opSetWatches), slog.Int(semconv.RequestWatches, e.watches),
		slog.Int(semconv.RequestSize, e.size), slog.Int(semconv.ConnectionsEnded, e.ends),
	}
	if e.refusal != nil {
		what = "zookeeper servers refuse to set watches again"
		attrs = append(attrs, slog.String(semconv.Cause, e.refusal.Error()))
	}
	log.Warn(what+": those who wait for changes look after each reconnect instead", attrs...)
}

var opSetWatches, _ = proto.Describe(proto.OpSetWatches, nil)

// endedWithReplay is EndedWith for setWatches.
func (ws *Session) endedWithReplay(all []transport.Unanswered) {
	i := slices.IndexFunc(all, func(r transport.Unanswered) bool { return r.Op == proto.OpSetWatches })
	if i < 0 {
		return
	}
	if found := ws.noteEnd(all[i]); found != nil {
		found.warn(ws.owner.Log)
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
	p.last, p.when = &replayError{proto.CountWatches(r.Payload(nil)), size, p.ends, ws.refusal(r.Refusal)}, time.Now()
	if p.proofs == 0 || p.refused {
		return nil
	}
	p.refused = true
	return p.last
}

// refusal returns the error of an answer, or nil.
func (ws *Session) refusal(code int32) error {
	if code == proto.CodeOK {
		return nil
	}
	_, err := ws.owner.Judge(code)
	return err
}

// SetAgain is called when setWatches was carried out. A shorter request says
// nothing of those that are too long.
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
	for _, w := range ws.shared {
		if w.isSet {
			w.firedLocked(zk.EventNotWatching, zk.StateDisconnected)
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
	_, refusal := answersTo(ws.sendProbe())
	if found := ws.probed(refusal); found != nil {
		found.warn(ws.owner.Log)
	}
}

// probed notes the answer. It returns what the log is to be told, or nil.
func (ws *Session) probed(refusal int32) (tell *replayError) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.lookingSince = math.MaxInt64
	p := &ws.replays
	if refusal == proto.CodeOK || !p.areSuspicious() || p.refused {
		return nil
	}
	p.refused = true
	found := *p.last
	found.refusal = ws.refusal(refusal)
	return &found
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
	slices.SortFunc(all, bySetting)
	ws.lookingSince = ws.link.LastZxid()
	return ws.link.SetWatches(ws.lookingSince, all)
}
