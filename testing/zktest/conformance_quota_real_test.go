//go:build real

package zktest

import (
	"testing"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// Both servers enforce quotas.
func TestQuotasConform(t *testing.T) {
	limit := func(p *player, path, limits string) {
		quota := "/zookeeper/quota" + path
		p.create(quota, none)
		p.do(wire.OpCreate, quota+"/zookeeper_limits", []byte(limits), datatree.OpenACL, 0)
		p.do(wire.OpCreate, quota+"/zookeeper_stats", []byte("count=0,bytes=0"), datatree.OpenACL, 0)
	}
	stats := func(p *player, path string) { p.get("/zookeeper/quota"+path+"/zookeeper_stats", true) }
	conform(t, "accounting", func(s *stage) {
		a, b := s.client(), s.client()
		a.create("/q", none)
		a.create("/q/old", none)
		limit(a, "/q", "count=2,bytes=1")
		stats(b, "/q")
		a.create("/q/new", wire.FlagEphemeral)
		a.create("/q/new", none)
		stats(a, "/q")
		a.set("/q/old", "a longer text", -1)
		a.do(wire.OpSetData, "/q/old", []byte(nil), -1)
		stats(a, "/q")
		a.delete("/q/new", -1)
		a.create("/qq", none)
		stats(a, "/q")
		limit(a, "/q/old", "count=5,bytes=50")
		a.create("/q/old/x", wire.FlagSequence)
		a.create("/q/y", none)
		stats(a, "/q")
		stats(a, "/q/old")
		a.delete("/zookeeper/quota/q/old/zookeeper_limits", -1)
		a.create("/q/old/x", wire.FlagSequence)
		stats(a, "/q")
		stats(a, "/q/old")
		a.set("/zookeeper/quota/q/zookeeper_stats", "count=100,bytes=100", -1)
		a.create("/q/z", none)
		stats(a, "/q")
		a.delete("/zookeeper/quota/q/zookeeper_stats", -1)
		a.delete("/q/z", -1)
	})
	conform(t, "of what is not there yet", func(s *stage) {
		a := s.client()
		limit(a, "/q", "count=-1,bytes=-1=;byteHardLimit=8;countHardLimit=2")
		stats(a, "/q")
		a.create("/q", none)
		a.create("/q/x", none)
		a.create("/q/y", none)
		stats(a, "/q")
		a.delete("/q/x", -1)
		a.delete("/q", -1)
		stats(a, "/q")
	})
	conform(t, "limits", func(s *stage) {
		a, b := s.client(), s.client()
		a.do(wire.OpCreate, "/q", []byte{}, datatree.OpenACL, 0)
		limit(a, "/q", "count=-1,bytes=-1=;byteHardLimit=10;countHardLimit=3")
		a.create("/q/x", none)
		a.create("/q/y", wire.FlagSequence)
		a.create("/q/z", none)
		a.create("/q/x", none)
		a.create("/q/missing/z", none)
		a.set("/q/x", "data plus", 7)
		a.set("/q/x", "data plus", -1)
		a.set("/q/x", "data+2", -1)
		stats(a, "/q")
		b.do(wire.OpAuth, 0, "digest", []byte(superUser))
		b.create("/q/z", none)
		a.delete("/q/x", -1)
		a.create("/q/z", none)
		a.set("/zookeeper/quota/q/zookeeper_limits", "count=1,bytes=-1=;countHardLimit=9", -1)
		a.create("/q/zz", none)
		a.set("/q/zz", "far more than ten bytes", -1)
		stats(a, "/q")
	})
	conform(t, "multis", func(s *stage) {
		a := s.client()
		a.do(wire.OpCreate, "/q", []byte{}, datatree.OpenACL, 0)
		limit(a, "/q", "count=-1,bytes=-1=;countHardLimit=2")
		a.multi(wire.OpCreate, "/q/x", []byte("1"), datatree.OpenACL, 0, wire.OpCreate, "/q/y", []byte("22"), datatree.OpenACL, 0, wire.OpCheck, "/none", 0)
		stats(a, "/q")
		a.multi(wire.OpCreate, "/q/x", []byte("1"), datatree.OpenACL, 0, wire.OpCreate, "/q/y", []byte("22"), datatree.OpenACL, 0)
		stats(a, "/q")
		a.multi(wire.OpDelete, "/q/x", -1, wire.OpCreate, "/q/z", []byte("22"), datatree.OpenACL, 0)
		a.multi(wire.OpDelete, "/q/x", -1, wire.OpDelete, "/q/y", -1)
		stats(a, "/q")
	})
}
