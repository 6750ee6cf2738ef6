package zktest

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
)

var malformedCount = flag.Int("zktest.malformed", 2000, "requests of TestMalformedRequestsConform")

// Two clients make requests at random whose bodies are damaged: most of them end too
// early, others have a byte changed. In between are sound requests, which show what
// the damaged ones have done.
func TestMalformedRequestsConform(t *testing.T) {
	seed := SeedOf(t)
	conformSince39(t, "cut", "", func(s *stage) {
		d := &dice{rand.New(rand.NewPCG(seed, 1)), s, realServer.is39()}
		players := []*player{s.client(), s.client()}
		for range *malformedCount {
			p := players[d.IntN(len(players))]
			if d.IntN(3) == 0 {
				d.request(p)
				continue
			}
			op, values := d.anyRequest()
			p.doDamaged(op, d.cut, values...)
		}
	})
}

// cut takes some bytes off the end.
func (d *dice) cut(body []byte) []byte { return body[:d.IntN(len(body)+1)] }

// anyRequest returns one request of any type.
func (d *dice) anyRequest() (Op, []any) {
	paths := func() []string { return []string{d.path(), d.path()} }
	switch op := pick(d, OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL, OpDelete, OpExists, OpGetData, OpSetData,
		OpGetACL, OpSetACL, OpGetChildren, OpGetChildren2, OpSync, OpMulti, OpMulti, OpMulti, OpMultiRead, OpReconfig,
		OpCheckWatches, OpRemoveWatches, OpDeleteContainer, OpAuth, OpSASL, OpSetWatches, OpSetWatches2, OpGetEphemerals,
		OpGetAllChildrenNumber, OpAddWatch, OpWhoAmI, OpPing); op {
	case OpCreate, OpCreate2, OpCreateContainer:
		return op, []any{d.path(), d.data(), d.acl(), d.IntN(int(flagContainer))}
	case OpCreateTTL:
		return op, []any{d.path(), d.data(), d.acl(), int(flagTTL), int64(1_000_000)}
	case OpDelete:
		return op, []any{d.path(), d.version()}
	case OpExists, OpGetData, OpGetChildren, OpGetChildren2:
		return op, []any{d.path(), d.watch()}
	case OpSetData:
		return op, []any{d.path(), d.data(), d.version()}
	case OpSetACL:
		return op, []any{d.path(), d.acl(), d.version()}
	case OpMulti:
		return op, d.parts()
	case OpMultiRead:
		return op, []any{OpGetData, d.path(), d.watch(), OpGetChildren, d.path(), d.watch(), opError}
	case OpReconfig:
		return op, []any{"server.3=a:1:2;3", "", "", int64(-1)}
	case OpCheckWatches, OpRemoveWatches:
		return op, []any{d.path(), 1 + d.IntN(5)}
	case OpAuth:
		return op, []any{0, "digest", []byte("joe:secret")}
	case OpSASL:
		return op, []any{[]byte("token")}
	case OpSetWatches:
		return op, []any{d.stage.last, paths(), paths(), paths()}
	case OpSetWatches2:
		return op, []any{d.stage.last, paths(), paths(), paths(), paths(), paths()}
	case OpAddWatch:
		return op, []any{d.path(), d.IntN(2)}
	case OpWhoAmI, OpPing:
		return op, nil
	default:
		return op, []any{d.path()}
	}
}

func (d *dice) parts() []any {
	return []any{
		OpCreate, d.path(), d.data(), d.acl(), d.IntN(4), OpSetData, d.path(), d.data(), -1, OpDelete, d.path(), -1,
		OpCheck, d.path(), d.version(), opError,
	}
}

// doDamaged is do with a body that damage has changed. The server may close the connection.
func (p *player) doDamaged(op Op, damage func([]byte) []byte, values ...any) {
	if !p.connected {
		p.reconnect()
	}
	whole := &encoder{}
	whole.values(values...)
	body := damage(whole.b)
	p.xid++
	head := &encoder{b: make([]byte, lengthSize)}
	head.int32(p.xid)
	head.int32(int32(op))
	frame := append(head.b, body...)
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-lengthSize))
	p.write(frame)
	p.hear(op, p.xid, fmt.Sprintf("%v %x", op, body))
	if !p.connected {
		p.reconnect()
	}
}
