//go:build real

package zktest

import (
	"os"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// player is a client whose conversation is written down.
type player struct {
	*raw
	stage     *stage
	name      string
	connected bool
}

// scriptSession is the timeout of sessions in milliseconds, where a script does
// not say otherwise.
const scriptSession = 20_000

// open begins a new session.
func (p *player) open() { p.connect(0, scriptSession, 0, nil) }

// reconnect takes the session up on a new connection.
func (p *player) reconnect() { p.connect(0, scriptSession, p.session, p.password) }

// connect opens a connection and writes down how the server greets. A session
// that is rejected stays the session that reconnect asks for.
func (p *player) connect(seen int64, timeout int32, session int64, password []byte, more ...byte) {
	p.nc = p.stage.dial()
	p.watchTheClock()
	answered := p.handshake(seen, timeout, session, password, more...)
	rejected := answered && p.session == 0
	p.connected = answered && !rejected
	switch {
	case !answered:
		p.note("connect: no answer")
	case rejected:
		p.note("connect: rejected, timeout %d password %x", p.timeout, p.password)
		p.session, p.password = session, password
	default:
		p.note("connect: %s session, timeout %d", p.age(session), p.timeout)
	}
}

func (p *player) age(asked int64) string {
	if p.session == asked {
		return "old"
	}
	return "new"
}

// do sends a request and writes down everything up to its answer.
func (p *player) do(op wire.Op, values ...any) {
	p.stage.t.Helper()
	require.True(p.stage.t, p.connected, "%s is not connected", p.name)
	p.hear(op, p.send(op, values...), describe(op, values))
}

// hear writes down everything up to the answer to a request, and returns its
// error.
func (p *player) hear(op wire.Op, xid int32, request string) wire.Code {
	p.stage.t.Helper()
	for {
		r, alive := p.next()
		if !alive {
			p.note("%s: closed", request)
			return wire.ErrConnectionLoss
		}
		if r.xid == wire.XidNotification {
			p.note("event %s", p.stage.event(r))
			continue
		}
		p.note("%s: %s", request, p.stage.tell(op, xid, r))
		if op == wire.OpCloseSession {
			p.hangUp()
		}
		return r.code
	}
}

// closeSession ends the session in front of everybody. In which order its
// ephemeral nodes are deleted is the server's business, and so is the order of
// the events.
func (p *player) closeSession() {
	p.doUnordered(wire.OpCloseSession)
	for _, other := range p.stage.players {
		if other.connected {
			other.doUnordered(wire.OpSync, "/")
		}
	}
}

// doUnordered is do, with the events before the answer in the order of the
// alphabet.
func (p *player) doUnordered(op wire.Op, values ...any) {
	heard := len(p.stage.lines)
	p.do(op, values...)
	slices.Sort(p.stage.lines[heard : len(p.stage.lines)-1])
}

// awaitEvent waits for one event.
func (p *player) awaitEvent() {
	r, alive := p.next()
	if !alive || r.xid != wire.XidNotification {
		p.note("no event")
		return
	}
	p.note("event %s", p.stage.event(r))
}

// awaitEnd waits until the server closes the connection.
func (p *player) awaitEnd() {
	if _, alive := p.next(); alive {
		p.note("not closed")
		return
	}
	p.note("closed")
}

// next returns the next frame, or reports that the connection has ended.
func (p *player) next() (reply, bool) {
	p.watchTheClock()
	frame, err := wire.ReadFrame(p.nc)
	if err != nil {
		require.NotErrorIs(p.stage.t, err, os.ErrDeadlineExceeded, "%s waits for nothing; so far:\n%s", p.name, strings.Join(p.stage.lines, "\n"))
		p.hangUp()
		return reply{}, false
	}
	d := &wire.Decoder{Buf: frame}
	return reply{d.Int32(), d.Int64(), wire.Code(d.Int32()), d}, true
}

// hangUp closes the connection without closing the session.
func (p *player) hangUp() {
	p.nc.Close()
	p.connected = false
}

const none int32 = 0 // the mode of a plain node

// The requests that scripts make most often.

func (p *player) create(path string, flags int32) {
	p.do(wire.OpCreate, path, []byte("data"), datatree.OpenACL, int(flags))
}

func (p *player) create2(path string, flags int32) {
	p.do(wire.OpCreate2, path, []byte("data"), datatree.OpenACL, int(flags))
}

func (p *player) delete(path string, version int) { p.do(wire.OpDelete, path, version) }

func (p *player) set(path, data string, version int) {
	p.do(wire.OpSetData, path, []byte(data), version)
}

func (p *player) exists(path string, watch bool) { p.do(wire.OpExists, path, watch) }

func (p *player) get(path string, watch bool) { p.do(wire.OpGetData, path, watch) }

func (p *player) children(path string, watch bool) { p.do(wire.OpGetChildren, path, watch) }

// multi sends the parts, each an op and its values, as one request.
func (p *player) multi(parts ...any) { p.do(wire.OpMulti, append(parts, wire.OpError)...) }
