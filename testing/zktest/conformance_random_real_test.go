//go:build real

package zktest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

var randomCount = flag.Int("zktest.requests", 5000, "requests of TestRandomRequestsConform")

// Three clients make requests at random about a dozen nodes. The choice depends
// on the seed alone and never on an answer, so that both servers are asked the
// same.
func TestRandomRequestsConform(t *testing.T) {
	seed := SeedOf(t)
	conform(t, "random", func(s *stage) {
		d := &requestSource{rand.New(rand.NewPCG(seed, 0)), s, realServer.is39()}
		players := []*player{s.client(), s.client(), s.client()}
		for range *randomCount {
			d.request(players[d.IntN(len(players))])
		}
	})
}

// requestSource chooses requests.
type requestSource struct {
	*rand.Rand
	stage  *stage
	modern bool // the real server is as new as the Server
}

func pick[T any](d *requestSource, list ...T) T { return list[d.IntN(len(list))] }

// path returns a node near others; depth 3 is the most.
func (d *requestSource) path() string {
	path := ""
	for range 1 + d.IntN(3) {
		path += "/" + pick(d, "a", "b", fmt.Sprintf("n-%010d", d.IntN(8)))
	}
	return path
}

func (d *requestSource) data() []byte { return make([]byte, d.IntN(4)) }

func (d *requestSource) version() int { return pick(d, -1, -1, -1, 0, 1, 2) }

func (d *requestSource) watch() bool { return d.IntN(2) == 0 }

// acl is mostly open to everyone, so that something happens. Before 3.9 exists
// and events ask for no permission.
func (d *requestSource) acl() []wire.ACL {
	if !d.modern || d.IntN(3) > 0 {
		return datatree.OpenACL
	}
	auth := wire.ID{Scheme: "auth", ID: ""}
	return pick(d,
		[]wire.ACL{{Perms: wire.PermAll, ID: auth}},
		[]wire.ACL{{Perms: wire.PermRead, ID: datatree.Anyone}, {Perms: wire.PermAll, ID: datatree.DigestID("joe:secret")}},
		[]wire.ACL{{Perms: wire.PermAll &^ wire.PermRead, ID: datatree.Anyone}, {Perms: wire.PermRead, ID: auth}},
		[]wire.ACL{{Perms: wire.PermAll &^ wire.PermDelete, ID: datatree.Anyone}, {Perms: wire.PermAdmin, ID: wire.ID{Scheme: "ip", ID: "127.0.0.0/8"}}},
		[]wire.ACL{{Perms: wire.PermRead | wire.PermAdmin, ID: datatree.Anyone}},
		[]wire.ACL{},
	)
}

// request makes one request.
func (d *requestSource) request(p *player) {
	switch n := d.IntN(100); {
	case n < 30:
		d.create(p)
	case n < 45:
		p.delete(d.path(), d.version())
	case n < 55:
		p.do(wire.OpSetData, d.path(), d.data(), d.version())
	case n < 80:
		p.do(pick(d, wire.OpExists, wire.OpGetData, wire.OpGetChildren, wire.OpGetChildren2), d.path(), d.watch())
	case n < 84:
		p.do(pick(d, wire.OpGetACL, wire.OpGetEphemerals, wire.OpSync), d.path())
	case n < 92:
		d.multi(p)
	case n < 94:
		p.do(wire.OpMultiRead, wire.OpGetData, d.path(), d.watch(), wire.OpGetChildren, d.path(), d.watch(), wire.OpError)
	case n < 96:
		p.do(wire.OpSetACL, d.path(), d.acl(), d.version())
	case n < 98:
		d.persistentWatch(p)
	case n < 99:
		p.do(wire.OpAuth, 0, "digest", []byte(pick(d, "joe:secret", "sue:secret")))
	default:
		d.move(p)
	}
}

// create makes a node in any of the modes, now and then in one that does not
// exist.
func (d *requestSource) create(p *player) {
	path := d.path()
	if d.IntN(3) == 0 {
		path += "/n-"
	}
	flags := d.IntN(int(wire.MaxFlags) + 2)
	switch op := pick(d, wire.OpCreate, wire.OpCreate, wire.OpCreate2, wire.OpCreateContainer, wire.OpCreateTTL); op {
	case wire.OpCreateTTL:
		p.do(op, path, d.data(), d.acl(), flags, pick(d, int64(0), 1_000_000))
	default:
		p.do(op, path, d.data(), d.acl(), flags)
	}
}

func (d *requestSource) multi(p *player) {
	var parts []any
	for range 1 + d.IntN(4) {
		switch path := d.path(); pick(d, wire.OpCreate, wire.OpSetData, wire.OpDelete, wire.OpCheck) {
		case wire.OpCreate:
			op, modes := wire.OpCreate, wire.FlagEphemeralSequence
			if d.modern {
				op, modes = pick(d, wire.OpCreate, wire.OpCreate2, wire.OpCreateContainer), wire.FlagContainer
			}
			parts = append(parts, op, path, d.data(), d.acl(), d.IntN(int(modes)+1))
		case wire.OpSetData:
			parts = append(parts, wire.OpSetData, path, d.data(), d.version())
		case wire.OpDelete:
			parts = append(parts, wire.OpDelete, path, d.version())
		case wire.OpCheck:
			parts = append(parts, wire.OpCheck, path, d.version())
		}
	}
	p.multi(parts...)
}

// persistentWatch leaves such watches to the newer versions: the older ones
// keep one watch per path only.
func (d *requestSource) persistentWatch(p *player) {
	switch {
	case !d.modern:
		p.do(wire.OpPing)
	case d.IntN(3) == 0:
		p.do(wire.OpAddWatch, d.path(), d.IntN(2))
	default:
		p.do(wire.OpRemoveWatches, d.path(), 1+d.IntN(5))
	}
}

// move takes the client to a new connection, with its watches or with a new
// session.
func (d *requestSource) move(p *player) {
	if d.IntN(3) > 0 {
		p.reconnect()
		seen := d.stage.last - int64(d.IntN(10))
		paths := func() []string { return []string{d.path(), d.path()} }
		if d.modern && d.IntN(2) == 0 {
			p.do(wire.OpSetWatches2, seen, paths(), paths(), paths(), paths(), paths())
			return
		}
		p.do(wire.OpSetWatches, seen, paths(), paths(), paths())
		return
	}
	p.closeSession()
	p.open()
}
