package zktest

import "testing"

func TestMultiConforms(t *testing.T) {
	null := []byte(nil)
	conform(t, "success", func(s *stage) {
		a, b := s.client(), s.client()
		a.multi()
		a.multi(
			OpCreate, "/m", null, openACL, 0, OpCreate, "/m/s-", null, openACL, 3,
			OpSetData, "/m", []byte("x"), 0, OpCheck, "/m", 1, OpDelete, "/m/s-0000000000", -1)
		a.get("/m", false)
		b.children("/m", true)
		b.get("/m", true)
		a.multi(
			OpCreate, "/m/a-", null, openACL, 2, OpCreate, "/m/a-", null, openACL, 2,
			OpDelete, "/m/a-0000000001", -1, OpCreate, "/m/a-0000000001", null, openACL, 0,
			OpSetData, "/m", []byte("q"), -1, OpSetData, "/m", []byte("q"), 2, OpCheck, "/m", 3)
		b.get("/m", false)
		b.do(OpGetChildren2, "/m", false)
		b.exists("/m/a-0000000001", false)
	})
	conform(t, "failure", func(s *stage) {
		a, b := s.client(), s.client()
		a.create("/m", none)
		b.children("/m", true)
		b.get("/m", true)
		a.multi(OpCreate, "/m/ok", null, openACL, 0, OpSetData, "/m", []byte("no"), -1,
			OpDelete, "/m", -1, OpCheck, "/m", 0, OpCreate, "/m/q", null, openACL, 0)
		a.multi(OpCreate, "/m/ok", null, openACL, 0, OpCreate, "/m/ok", null, openACL, 0)
		a.multi(OpCheck, "/m", 5)
		a.multi(OpCheck, "/missing", -1)
		a.multi(OpCreate, "/m/e", null, openACL, 1, OpCreate, "/m/e/x", null, openACL, 0)
		a.multi(OpSetData, "/m", null, 0, OpSetData, "/m", null, 0)
		a.multi(OpCreate, "/m/x", null, []ACL{}, 0)
		a.multi(OpCreateTTL, "/m/t", null, openACL, 5, int64(0))
		b.do(OpGetChildren2, "/m", false)
		b.do(OpGetEphemerals, "/")
	})
	conform(t, "own effects", func(s *stage) {
		a := s.client()
		a.create("/m", none)
		a.children("/m", true)
		a.exists("/m", true)
		a.multi(OpCreate, "/m/b", null, openACL, 0, OpDelete, "/m/b", -1, OpSetData, "/m", null, -1)
		a.exists("/m", true)
		a.multi(OpDelete, "/m", -1, OpCreate, "/m", null, openACL, 0)
		a.exists("/m", false)
	})
	conform(t, "modes", func(s *stage) {
		a := s.client()
		a.create("/m", none)
		for flags := range int(maxFlags) {
			a.multi(OpCreateTTL, "/m/ttl", null, openACL, flags, int64(9999))
		}
		a.multi(OpCreate, "/m/c", null, openACL, int(flagContainer))
		a.multi(OpCreate, "/m/t", null, openACL, int(flagTTL))
		a.do(OpGetChildren2, "/m", false)
		a.do(OpGetEphemerals, "/")
	})
	conform(t, "reads", func(s *stage) {
		a, b := s.client(), s.client()
		a.create("/m", none)
		a.create("/m/x", none)
		b.do(OpMultiRead, opError)
		b.do(OpMultiRead, OpGetData, "/m", true, OpGetChildren, "/missing", false, OpGetChildren, "/m", false,
			OpGetData, "/missing", true, OpGetData, "", false, opError)
		a.set("/m", "y", -1)
	})
	conformSince39(t, "create2", "answered as create, without the stat", func(s *stage) {
		a := s.client()
		a.multi(OpCreate2, "/m", null, openACL, 0, OpCreate2, "/m/s-", null, openACL, 2)
		a.multi(OpCreate2, "/c", null, openACL, int(flagContainer))
	})
	conformSince39(t, "containers", "the flags alone say what is created, and how it is answered", func(s *stage) {
		a := s.client()
		for flags := range int(maxFlags) {
			a.multi(OpCreateContainer, "/c", null, openACL, flags)
		}
		a.do(OpGetEphemerals, "/")
	})
	conformSince39(t, "unknown modes", "a failed part instead of a request that cannot be read", func(s *stage) {
		a := s.client()
		a.multi(OpCreate, "/f", null, openACL, 9)
		a.multi(OpCreate2, "/f", null, openACL, -1)
		a.multi(OpCreateContainer, "/f", null, openACL, 5)
		a.multi(OpCheck, "/", -1)
	})
}
