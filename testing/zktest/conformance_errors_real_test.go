//go:build real

package zktest

import (
	"testing"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// oddPaths are paths that no node has, or should have.
var oddPaths = []string{
	"", "/", "x", "x/y", "/p/", "//", "/p//x", "/.", "/..", "/p/.", "/p/..", "/p/../x", "/...", "/ .x",
	"/p/\x00", "/p/\x00/x", "/p/\x1f", "/p/\x7f", "/p/\u0085", "/p/\u00a0", "/p/\u00e9",
	"/p/\ud7ff", "/p/\ue000", "/p/\uf8ff", "/p/\uf900", "/p/\uffef", "/p/\ufff0", "/p/\U0001f600",
	"/missing", "/missing/x", "/missing/..", "/zookeeper", "/zookeeper/x", "/zookeeper/quota", "/zookeeper/config",
}

func TestErrorsConform(t *testing.T) {
	conform(t, "odd paths in creates", func(s *stage) {
		a := s.client()
		a.create("/p", none)
		for _, path := range oddPaths {
			a.create(path, none)
			a.create(path, wire.FlagEphemeral)
			a.create2(path, wire.FlagSequence)
		}
		a.delete("/zookeeper/x", -1)
	})
	conform(t, "odd paths in other writes", func(s *stage) {
		a := s.client()
		a.create("/p", none)
		for _, path := range oddPaths {
			a.delete(path, 9)
			a.set(path, "", 9)
			a.do(wire.OpSetACL, path, datatree.OpenACL, 9)
			a.multi(wire.OpCheck, path, 9)
		}
	})
	conform(t, "odd paths in reads", func(s *stage) {
		a := s.client()
		a.create("/p", none)
		for _, path := range oddPaths {
			a.exists(path, true)
			a.get(path, true)
			a.children(path, true)
			a.do(wire.OpGetChildren2, path, false)
			a.do(wire.OpGetACL, path)
		}
		a.do(wire.OpSync, "")
		a.do(wire.OpSync, "/missing//")
	})
	conform(t, "order of checks", func(s *stage) {
		a := s.client()
		a.create("/p", none)
		a.create("/e", wire.FlagEphemeral)
		noACL := []wire.ACL{}
		for _, path := range []string{"/p", "/p/x", "/e/x", "/missing/x", "x", "/p//", "/e/"} {
			a.do(wire.OpCreate, path, []byte("x"), noACL, 0)
			a.do(wire.OpCreate, path, []byte("x"), datatree.OpenACL, 99)
			a.do(wire.OpCreate, path, []byte("x"), noACL, 99)
			a.do(wire.OpCreateTTL, path, []byte("x"), noACL, int(wire.FlagTTL), int64(0))
		}
		a.create("/p/x", none)
		a.delete("/p", 7)
		a.delete("/p", 0)
		a.delete("/p/x/y", 7)
		a.delete("/p/x", 7)
		a.set("/p", "", 7)
		a.do(wire.OpSetACL, "/p", noACL, 7)
		a.do(wire.OpSetACL, "/missing", noACL, 7)
		a.do(wire.OpSetACL, "/p", datatree.OpenACL, 7)
		a.do(wire.OpSetACL, "/p", datatree.OpenACL, 0)
		a.do(wire.OpSetACL, "/p", datatree.OpenACL, 0)
	})
	conform(t, "malformed reads", func(s *stage) {
		a := s.client()
		a.do(wire.OpGetData)
		a.do(wire.OpGetData, -2)
		a.do(wire.OpExists, 0x7fffffff)
		a.do(wire.OpSetWatches, int64(0), 0x7fffffff)
		a.do(wire.OpAddWatch, "/", 7)
		a.do(wire.OpRemoveWatches, "/", 6)
		a.do(wire.OpSync, "/")
	})
	conformSince39(t, "malformed writes", "they take a zxid", func(s *stage) {
		a := s.client()
		a.do(wire.OpCreate, "/x")
		a.do(wire.OpDelete, "/x")
		a.do(wire.OpDelete, 0x7fffffff)
		a.do(wire.OpSetData, "/x", -2)
		a.do(wire.OpMulti)
		a.multi(wire.OpGetData, "/", false)
		a.multi(wire.OpCreate, "/x", []byte{}, datatree.OpenACL, 0, wire.OpGetData, "/", false)
		a.multi(wire.OpSetACL, "/", datatree.OpenACL, -1)
		a.multi(wire.OpMulti, wire.OpError)
		a.do(wire.OpMultiRead, wire.OpGetData, "/", false, wire.OpDelete, "/x", -1, wire.OpError)
		a.do(wire.OpMultiRead, wire.OpExists, "/", false, wire.OpError)
		a.do(wire.OpSetACL, "/x")
		a.do(wire.OpCreateTTL, "/x", []byte{}, datatree.OpenACL, 0)
		a.do(wire.OpSync, "/")
	})
	conform(t, "unknown requests", func(s *stage) {
		for _, op := range []wire.Op{-7, 10, 77, 108, 1000} {
			a := s.client()
			a.do(op, "/", 0)
			a.awaitEnd()
		}
	})
	conformSince39(t, "check alone", "it is never answered", func(s *stage) {
		a := s.client()
		a.do(wire.OpCheck, "/", 0)
		a.awaitEnd()
	})
}
