//go:build real

package zktest

import (
	"testing"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func TestMultiConforms(t *testing.T) {
	null := []byte(nil)
	conform(t, "success", func(s *stage) {
		a, b := s.client(), s.client()
		a.multi()
		a.multi(
			wire.OpCreate, "/m", null, datatree.OpenACL, 0, wire.OpCreate, "/m/s-", null, datatree.OpenACL, 3,
			wire.OpSetData, "/m", []byte("x"), 0, wire.OpCheck, "/m", 1, wire.OpDelete, "/m/s-0000000000", -1)
		a.get("/m", false)
		b.children("/m", true)
		b.get("/m", true)
		a.multi(
			wire.OpCreate, "/m/a-", null, datatree.OpenACL, 2, wire.OpCreate, "/m/a-", null, datatree.OpenACL, 2,
			wire.OpDelete, "/m/a-0000000001", -1, wire.OpCreate, "/m/a-0000000001", null, datatree.OpenACL, 0,
			wire.OpSetData, "/m", []byte("q"), -1, wire.OpSetData, "/m", []byte("q"), 2, wire.OpCheck, "/m", 3)
		b.get("/m", false)
		b.do(wire.OpGetChildren2, "/m", false)
		b.exists("/m/a-0000000001", false)
	})
	conform(t, "failure", func(s *stage) {
		a, b := s.client(), s.client()
		a.create("/m", none)
		b.children("/m", true)
		b.get("/m", true)
		a.multi(wire.OpCreate, "/m/ok", null, datatree.OpenACL, 0, wire.OpSetData, "/m", []byte("no"), -1,
			wire.OpDelete, "/m", -1, wire.OpCheck, "/m", 0, wire.OpCreate, "/m/q", null, datatree.OpenACL, 0)
		a.multi(wire.OpCreate, "/m/ok", null, datatree.OpenACL, 0, wire.OpCreate, "/m/ok", null, datatree.OpenACL, 0)
		a.multi(wire.OpCheck, "/m", 5)
		a.multi(wire.OpCheck, "/missing", -1)
		a.multi(wire.OpCreate, "/m/e", null, datatree.OpenACL, 1, wire.OpCreate, "/m/e/x", null, datatree.OpenACL, 0)
		a.multi(wire.OpSetData, "/m", null, 0, wire.OpSetData, "/m", null, 0)
		a.multi(wire.OpCreate, "/m/x", null, []wire.ACL{}, 0)
		a.multi(wire.OpCreateTTL, "/m/t", null, datatree.OpenACL, 5, int64(0))
		b.do(wire.OpGetChildren2, "/m", false)
		b.do(wire.OpGetEphemerals, "/")
	})
	conform(t, "own effects", func(s *stage) {
		a := s.client()
		a.create("/m", none)
		a.children("/m", true)
		a.exists("/m", true)
		a.multi(wire.OpCreate, "/m/b", null, datatree.OpenACL, 0, wire.OpDelete, "/m/b", -1, wire.OpSetData, "/m", null, -1)
		a.exists("/m", true)
		a.multi(wire.OpDelete, "/m", -1, wire.OpCreate, "/m", null, datatree.OpenACL, 0)
		a.exists("/m", false)
	})
	conform(t, "modes", func(s *stage) {
		a := s.client()
		a.create("/m", none)
		for flags := range int(wire.MaxFlags) {
			a.multi(wire.OpCreateTTL, "/m/ttl", null, datatree.OpenACL, flags, int64(9999))
		}
		a.multi(wire.OpCreate, "/m/c", null, datatree.OpenACL, int(wire.FlagContainer))
		a.multi(wire.OpCreate, "/m/t", null, datatree.OpenACL, int(wire.FlagTTL))
		a.do(wire.OpGetChildren2, "/m", false)
	})
	conform(t, "reads", func(s *stage) {
		a, b := s.client(), s.client()
		a.create("/m", none)
		a.create("/m/x", none)
		b.do(wire.OpMultiRead, wire.OpError)
		b.do(wire.OpMultiRead, wire.OpGetData, "/m", true, wire.OpGetChildren, "/missing", false, wire.OpGetChildren, "/m", false,
			wire.OpGetData, "/missing", true, wire.OpGetData, "", false, wire.OpError)
		a.set("/m", "y", -1)
	})
	conformInEachVersion(t, "create2", func(s *stage) {
		a := s.client()
		a.multi(wire.OpCreate2, "/m", null, datatree.OpenACL, 0, wire.OpCreate2, "/m/s-", null, datatree.OpenACL, 2)
		a.multi(wire.OpCreate2, "/c", null, datatree.OpenACL, int(wire.FlagContainer))
	})
	conformInEachVersion(t, "containers", func(s *stage) {
		a := s.client()
		for flags := range int(wire.MaxFlags) {
			a.multi(wire.OpCreateContainer, "/c", null, datatree.OpenACL, flags)
		}
	})
	conformInEachVersion(t, "unknown modes", func(s *stage) {
		a := s.client()
		a.multi(wire.OpCreate, "/f", null, datatree.OpenACL, 9)
		a.multi(wire.OpCreate2, "/f", null, datatree.OpenACL, -1)
		a.multi(wire.OpCreateContainer, "/f", null, datatree.OpenACL, 5)
		a.multi(wire.OpCheck, "/", -1)
	})
}
