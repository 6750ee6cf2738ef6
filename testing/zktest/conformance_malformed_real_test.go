//go:build real

package zktest

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

var malformedCount = flag.Int("zktest.malformed", 2000, "requests of TestMalformedRequestsConform")

// Two clients make requests at random. Most are damaged: they end too early, or
// a byte has changed, or their body belongs to another request, or the frames
// of several are cut at the wrong places, or a string is null. In between are
// sound requests, which show what the damaged ones have done.
func TestMalformedRequestsConform(t *testing.T) {
	seed := SeedOf(t)
	conformSince39(t, "malformed", "writes that cannot be read take a zxid", func(s *stage) {
		d := &requestSource{rand.New(rand.NewPCG(seed, 1)), s, realServer.is39()}
		players := []*player{s.client(), s.client()}
		for range *malformedCount {
			p := players[d.IntN(len(players))]
			switch n := d.IntN(9); {
			case n < 3:
				d.request(p)
			case n < 8:
				frame := d.frame(p, pick(d, d.cut, d.change, d.insert, d.remove))
				p.doFrame(frame)
			default:
				for _, frame := range d.misframed(p) {
					p.doFrame(frame)
				}
			}
		}
	})
}

// frame returns a request, without the length in front, whose body damage has
// changed.
func (d *requestSource) frame(p *player, damage func([]byte) []byte) []byte {
	op, values := d.anyRequest()
	if d.IntN(8) == 0 {
		op, _ = d.anyRequest()
	}
	body := &wire.Encoder{}
	encodeValues(body, values...)
	switch family := op.Family(); {
	case family == wire.OpCreate, family == wire.OpMulti: // see "What is not modelled"
	case family == wire.OpSetWatches && realServer.isSince394(): // see "Newer versions"
	case d.IntN(5) == 0:
		damage = d.null
	}
	p.xid++
	head := &wire.Encoder{}
	head.Int32(p.xid)
	head.Int32(int32(op))
	return append(head.Buf, damage(body.Buf)...)
}

// misframed returns the frames that a server finds in the bytes of several
// requests, of which some in the middle are missing. The bytes that are left at
// the end are no frame.
func (d *requestSource) misframed(p *player) (frames [][]byte) {
	var stream []byte
	for range 4 {
		frame := d.frame(p, func(body []byte) []byte { return body })
		stream = append(binary.BigEndian.AppendUint32(stream, uint32(len(frame))), frame...)
	}
	at := wire.LengthSize + d.IntN(len(stream)/2)
	stream = slices.Delete(stream, at, at+1+d.IntN(12))
	for len(stream) >= wire.LengthSize {
		n := binary.BigEndian.Uint32(stream)
		stream = stream[wire.LengthSize:]
		if int64(n) > int64(len(stream)) {
			break
		}
		frames = append(frames, stream[:n])
		stream = stream[n:]
	}
	return frames
}

// cut takes some bytes off the end.
func (d *requestSource) cut(body []byte) []byte { return body[:d.IntN(len(body)+1)] }

// change gives one byte another value.
func (d *requestSource) change(body []byte) []byte {
	if len(body) > 0 {
		body[d.IntN(len(body))] = d.oddByte()
	}
	return body
}

// insert puts a byte somewhere, which moves what is behind it.
func (d *requestSource) insert(body []byte) []byte {
	return slices.Insert(body, d.IntN(len(body)+1), d.oddByte())
}

// remove takes a byte out.
func (d *requestSource) remove(body []byte) []byte {
	if len(body) == 0 {
		return body
	}
	at := d.IntN(len(body))
	return slices.Delete(body, at, at+1)
}

// null overwrites what may be a length with -1.
func (d *requestSource) null(body []byte) []byte {
	if len(body) >= 4 {
		copy(body[d.IntN(len(body)-3):], "\xff\xff\xff\xff")
	}
	return body
}

// oddByte returns a byte that means something special in a length or a string,
// or any.
func (d *requestSource) oddByte() byte {
	return pick(d, 0, 1, 2, 0x1f, '/', '.', 0x7f, 0x80, 0xc3, 0xff, byte(d.Uint32()))
}

// anyRequest returns one request of any type.
func (d *requestSource) anyRequest() (wire.Op, []any) {
	paths := func() []string { return []string{d.path(), d.path()} }
	switch op := pick(d, wire.OpCreate, wire.OpCreate2, wire.OpCreateContainer, wire.OpCreateTTL, wire.OpDelete, wire.OpExists, wire.OpGetData, wire.OpSetData,
		wire.OpGetACL, wire.OpSetACL, wire.OpGetChildren, wire.OpGetChildren2, wire.OpSync, wire.OpMulti, wire.OpMulti, wire.OpMulti, wire.OpMultiRead,
		wire.OpRemoveWatches, wire.OpAuth, wire.OpSetWatches, wire.OpSetWatches2, wire.OpGetEphemerals, wire.OpAddWatch, wire.OpPing); op {
	case wire.OpCreate, wire.OpCreate2, wire.OpCreateContainer:
		return op, []any{d.path(), d.data(), d.acl(), d.IntN(int(wire.FlagContainer))}
	case wire.OpCreateTTL:
		return op, []any{d.path(), d.data(), d.acl(), int(wire.FlagTTL), int64(1_000_000)}
	case wire.OpDelete:
		return op, []any{d.path(), d.version()}
	case wire.OpExists, wire.OpGetData, wire.OpGetChildren, wire.OpGetChildren2:
		return op, []any{d.path(), d.watch()}
	case wire.OpSetData:
		return op, []any{d.path(), d.data(), d.version()}
	case wire.OpSetACL:
		return op, []any{d.path(), d.acl(), d.version()}
	case wire.OpMulti:
		return op, d.parts()
	case wire.OpMultiRead:
		return op, []any{wire.OpGetData, d.path(), d.watch(), wire.OpGetChildren, d.path(), d.watch(), wire.OpError}
	case wire.OpRemoveWatches:
		return op, []any{d.path(), 1 + d.IntN(5)}
	case wire.OpAuth:
		return op, []any{0, "digest", []byte("joe:secret")}
	case wire.OpSetWatches:
		return op, []any{d.stage.last, paths(), paths(), paths()}
	case wire.OpSetWatches2:
		return op, []any{d.stage.last, paths(), paths(), paths(), paths(), paths()}
	case wire.OpAddWatch:
		return op, []any{d.path(), d.IntN(2)}
	case wire.OpPing:
		return op, nil
	default:
		return op, []any{d.path()}
	}
}

func (d *requestSource) parts() []any {
	return []any{
		wire.OpCreate, d.path(), d.data(), d.acl(), d.IntN(4), wire.OpSetData, d.path(), d.data(), -1, wire.OpDelete, d.path(), -1,
		wire.OpCheck, d.path(), d.version(), wire.OpError,
	}
}

// doFrame sends a frame, after its length, and writes down everything up to the
// answer. If the server closes the connection, the client comes back.
func (p *player) doFrame(frame []byte) {
	d := &wire.Decoder{Buf: frame}
	xid, op := d.Int32(), wire.Op(d.Int32())
	if isNotModelled(op) {
		return
	}
	p.write(append(frameLength(uint32(len(frame))), frame...))
	if op == wire.OpPing {
		xid = wire.XidPing
	}
	code := p.hear(op, xid, fmt.Sprintf("%v %x", op, d.Buf))
	if p.connected && (code == wire.ErrAuthFailed || code == wire.ErrUnimplemented) {
		p.awaitEnd()
	}
	if !p.connected {
		p.reconnect()
	}
}

// isNotModelled reports whether a real server knows a request that a Server does
// not know: see MODEL.md.
func isNotModelled(op wire.Op) bool {
	switch op {
	case 16, 17, 20, 102, 104, 107: // reconfig, checkWatches, deleteContainer, sasl, getAllChildrenNumber, whoAmI
		return true
	}
	return false
}
