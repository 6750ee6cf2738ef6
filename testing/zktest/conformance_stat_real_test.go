//go:build real

package zktest

import (
	"testing"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func TestStatsConform(t *testing.T) {
	conform(t, "arithmetic", func(s *stage) {
		a, b := s.client(), s.client()
		look := func() {
			a.exists("/p", false)
			a.get("/p/x", false)
			a.do(wire.OpGetChildren2, "/p", false)
			a.do(wire.OpGetACL, "/p/x")
		}
		a.create("/p", none)
		look()
		a.create("/p/x", none)
		look()
		b.set("/p/x", "longer", 0)
		b.set("/p/x", "", 0)
		look()
		a.create("/p/x/y", wire.FlagEphemeral)
		look()
		b.delete("/p/x/y", 3)
		b.delete("/p/x/y", 0)
		look()
		a.do(wire.OpSetACL, "/p/x", []wire.ACL{{Perms: wire.PermAll, ID: datatree.Anyone}, {Perms: wire.PermRead, ID: datatree.Anyone}}, 0)
		look()
		a.delete("/p/x", 1)
		look()
		a.create("/p/x", none)
		look()
		a.set("/p", "p", -1)
		look()
	})
	conform(t, "the root", func(s *stage) {
		a := s.client()
		a.exists("/", false)
		a.create("/p", none)
		a.exists("/", false)
		a.delete("/p", -1)
		a.exists("/", false)
		a.set("/", "root", -1)
		a.get("/", false)
	})
	conform(t, "zxids of failures", func(s *stage) {
		a := s.client()
		a.delete("/missing", -1)
		a.create("x", none)
		a.set("/missing", "", -1)
		a.do(wire.OpSetACL, "/missing", datatree.OpenACL, -1)
		a.multi(wire.OpCheck, "/missing", 0)
		a.multi()
		a.get("/missing", false)
		a.do(wire.OpSync, "/missing")
		a.do(wire.OpPing)
		a.do(wire.OpAuth, 0, "digest", []byte("u:p"))
		a.do(wire.OpSync, "/")
	})
}
