package zktest

import "testing"

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
			a.create(path, flagEphemeral)
			a.create2(path, flagSequence)
		}
		a.delete("/zookeeper/x", -1)
	})
	conform(t, "odd paths in other writes", func(s *stage) {
		a := s.client()
		a.create("/p", none)
		for _, path := range oddPaths {
			a.delete(path, 9)
			a.set(path, "", 9)
			a.do(OpSetACL, path, openACL, 9)
			a.multi(OpCheck, path, 9)
		}
	})
	conform(t, "odd paths in reads", func(s *stage) {
		a := s.client()
		a.create("/p", none)
		for _, path := range oddPaths {
			a.exists(path, true)
			a.get(path, true)
			a.children(path, true)
			a.do(OpGetChildren2, path, false)
			a.do(OpGetACL, path)
			a.do(OpGetAllChildrenNumber, path)
		}
		a.do(OpSync, "")
		a.do(OpSync, "/missing//")
	})
	conform(t, "order of checks", func(s *stage) {
		a := s.client()
		a.create("/p", none)
		a.create("/e", flagEphemeral)
		noACL := []ACL{}
		for _, path := range []string{"/p", "/p/x", "/e/x", "/missing/x", "x", "/p//", "/e/"} {
			a.do(OpCreate, path, []byte("x"), noACL, 0)
			a.do(OpCreate, path, []byte("x"), openACL, 99)
			a.do(OpCreate, path, []byte("x"), noACL, 99)
			a.do(OpCreateTTL, path, []byte("x"), noACL, int(flagTTL), int64(0))
		}
		a.create("/p/x", none)
		a.delete("/p", 7)
		a.delete("/p", 0)
		a.delete("/p/x/y", 7)
		a.delete("/p/x", 7)
		a.set("/p", "", 7)
		a.do(OpSetACL, "/p", noACL, 7)
		a.do(OpSetACL, "/missing", noACL, 7)
		a.do(OpSetACL, "/p", openACL, 7)
		a.do(OpSetACL, "/p", openACL, 0)
		a.do(OpSetACL, "/p", openACL, 0)
	})
	conform(t, "malformed reads", func(s *stage) {
		a := s.client()
		a.do(OpGetData)
		a.do(OpGetData, -2)
		a.do(OpExists, 0x7fffffff)
		a.do(OpSetWatches, int64(0), 0x7fffffff)
		a.do(OpAddWatch, "/", 7)
		a.do(OpCheckWatches, "/", 0)
		a.do(OpRemoveWatches, "/", 6)
		a.do(OpSync, "/")
	})
	conformSince39(t, "malformed writes", "each of them takes a zxid, not only multis", func(s *stage) {
		a := s.client()
		a.do(OpCreate, "/x")
		a.do(OpDelete, "/x")
		a.do(OpDelete, 0x7fffffff)
		a.do(OpSetData, "/x", -2)
		a.do(OpMulti)
		a.multi(OpGetData, "/", false)
		a.multi(OpCreate, "/x", []byte{}, openACL, 0, OpGetData, "/", false)
		a.multi(OpSetACL, "/", openACL, -1)
		a.multi(OpMulti, opError)
		a.do(OpMultiRead, OpGetData, "/", false, OpDelete, "/x", -1, opError)
		a.do(OpMultiRead, OpExists, "/", false, opError)
		a.do(OpSetACL, "/x")
		a.do(OpDeleteContainer)
		a.do(OpCreateTTL, "/x", []byte{}, openACL, 0)
		a.do(OpSync, "/")
	})
	conform(t, "unknown requests", func(s *stage) {
		for _, op := range []Op{-7, 10, 77, 108, 1000} {
			a := s.client()
			a.do(op, "/", 0)
			a.awaitEnd()
		}
	})
	conformSince39(t, "check alone", "it is never answered", func(s *stage) {
		a := s.client()
		a.do(OpCheck, "/", 0)
		a.awaitEnd()
	})
	conform(t, "reconfig", func(s *stage) {
		a := s.client()
		a.do(OpReconfig, "", "", "", int64(-1))
		a.do(OpReconfig, []byte(nil), []byte(nil), "server.1=x:1:2;3", int64(0))
		a.do(OpReconfig, "")
		a.get("/zookeeper/config", true)
		a.do(OpPing)
	})
}
