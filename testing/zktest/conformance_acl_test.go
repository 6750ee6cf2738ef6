package zktest

import "testing"

func TestACLsConform(t *testing.T) {
	auth := ID{"auth", ""}
	conform(t, "validity", func(s *stage) {
		a := s.client()
		for _, id := range []ID{
			anyone, auth, {"world", "nobody"}, {"world", ""}, {"", ""}, {"x509", "me"}, {"sasl", "me"},
			{"digest", "abc"}, {"digest", "a:b"}, {"digest", "a:b:c"}, {"digest", ""},
			{"digest", ":"}, {"digest", "a:"}, {"digest", ":b"}, {"digest", "a:b:"}, {"digest", "::b"},
			{"ip", "10.0.0.1"}, {"ip", "10.0.0.0/8"}, {"ip", "10.1.2.3/8"}, {"ip", "300.1.1.1"},
			{"ip", "10.0.0.0/33"}, {"ip", "10.0.0"}, {"ip", ""}, {"ip", "10.0.0.0/"}, {"ip", "::1"}, {"ip", "010.0.+0.1/08"},
			{"super", ""}, {"super", "x"}, {"auth", "anything"},
		} {
			a.do(OpCreate, "/n-", []byte("x"), []ACL{{permAll, id}}, int(flagSequence))
			a.do(OpCreate, "/n-", []byte("x"), []ACL{{permAll, anyone}, {permRead, id}}, int(flagSequence))
		}
		a.do(OpCreate, "/twice", []byte("x"), []ACL{{permAll, anyone}, {permRead, anyone}, {permAll, anyone}}, 0)
		a.do(OpGetACL, "/twice")
		a.do(OpCreate, "/none", []byte("x"), []ACL{{0, anyone}}, 0)
		a.get("/none", false)
	})
	conform(t, "enforcement", func(s *stage) {
		a, b := s.client(), s.client()
		a.do(OpAuth, 0, "digest", []byte("joe:secret"))
		a.do(OpWhoAmI)
		b.do(OpWhoAmI)
		a.do(OpCreate, "/acl", []byte("x"), []ACL{{permAll, auth}}, 0)
		a.do(OpGetACL, "/acl")
		b.do(OpGetACL, "/acl")
		b.get("/acl", true)
		b.children("/acl", true)
		b.do(OpGetAllChildrenNumber, "/acl")
		b.do(OpMultiRead, OpGetData, "/acl", false, OpGetChildren, "/acl", false, opError)
		b.set("/acl", "", 7)
		b.multi(OpCheck, "/acl", 7)
		b.do(OpSetACL, "/acl", openACL, 7)
		b.create("/acl/x", none)
		b.create("/acl/", none)
		a.do(OpSetACL, "/acl", []ACL{{permRead, anyone}, {permAll, auth}}, 0)
		b.do(OpGetACL, "/acl")
		b.get("/acl", true)
		a.create("/acl/kid", none)
		b.delete("/acl/kid", 7)
		b.delete("/acl/nokid", 7)
		b.do(OpAuth, 0, "digest", []byte("joe:wrong"))
		b.set("/acl", "", -1)
		b.do(OpAuth, 0, "digest", []byte("joe:secret"))
		b.set("/acl", "", -1)
		b.do(OpCreate, "/both", []byte("x"), []ACL{{permAll, auth}}, 0)
		a.set("/both", "", -1)
	})
	conform(t, "addresses", func(s *stage) {
		a := s.client()
		for _, pattern := range []string{"127.0.0.1", "127.0.0.2", "127.0.0.0/8", "127.9.9.9/8", "126.0.0.0/7", "128.0.0.0/8", "0.0.0.0/1", "128.0.0.0/0", "0127.0.0.1"} {
			a.do(OpCreate, "/p", []byte("x"), []ACL{{permAll, ID{"ip", pattern}}}, 0)
			a.get("/p", false)
			a.delete("/p", -1)
		}
	})
	conform(t, "auth", func(s *stage) {
		a := s.client()
		a.do(OpAuth, 0, "ip", []byte("1.2.3.4"))
		a.do(OpWhoAmI)
		a.do(OpAuth, 0, "digest", []byte("no password"))
		a.do(OpWhoAmI)
		a.do(OpAuth, 0, "kerberos", []byte("x"))
		a.awaitEnd()
		a.reconnect()
		a.do(OpWhoAmI)
	})
	conform(t, "several identities", func(s *stage) {
		a, b := s.client(), s.client()
		a.do(OpAuth, 0, "digest", []byte("joe:secret"))
		a.do(OpAuth, 0, "digest", []byte("sue:secret"))
		a.do(OpAuth, 0, "digest", []byte("sue:secret"))
		a.do(OpWhoAmI)
		joe := digestID("joe:secret")
		a.do(OpCreate, "/acl", []byte("x"), []ACL{{permRead, auth}, {permAll, joe}, {permRead, auth}, {permRead, joe}, {permAll, auth}}, 0)
		a.do(OpGetACL, "/acl")
		b.do(OpGetACL, "/acl")
		b.do(OpAuth, 0, "digest", []byte("sue:secret"))
		b.do(OpGetACL, "/acl")
		b.do(OpSetACL, "/acl", []ACL{{permRead, ID{"auth", "ignored"}}, {permWrite, anyone}}, 0)
		b.do(OpGetACL, "/acl")
		a.do(OpGetACL, "/acl")
		a.do(OpSetACL, "/acl", openACL, 1)
	})
	conform(t, "the super user", func(s *stage) {
		a, b := s.client(), s.client()
		a.do(OpCreate, "/acl", []byte("x"), []ACL{{permRead, digestID("joe:secret")}}, 0)
		a.get("/acl", false)
		b.do(OpAuth, 0, "digest", []byte(superUser))
		b.do(OpWhoAmI)
		b.do(OpGetACL, "/acl")
		b.get("/acl", true)
		b.set("/acl", "new", 0)
		b.create("/acl/x", none)
		b.do(OpCreate, "/mine", []byte("x"), []ACL{{permAll, auth}}, 0)
		b.do(OpGetACL, "/mine")
		b.do(OpSetACL, "/zookeeper/config", openACL, -1)
		b.do(OpSetACL, "/zookeeper/config", []ACL{{permRead, anyone}}, -1)
	})
	conform(t, "no permission at all", func(s *stage) {
		a, b := s.client(), s.client()
		b.do(OpAuth, 0, "digest", []byte("joe:secret"))
		b.do(OpCreate, "/acl", []byte("x"), []ACL{{permAll, auth}}, 0)
		b.create("/acl/x", none)
		for _, op := range []Op{OpGetData, OpGetChildren, OpGetChildren2} {
			a.do(op, "/acl", true)
		}
		for _, op := range []Op{OpGetACL, OpGetAllChildrenNumber, OpSync, OpGetEphemerals} {
			a.do(op, "/acl")
		}
		for _, op := range []Op{OpCreate, OpCreate2, OpCreateContainer} {
			a.do(op, "/acl/y", []byte("x"), openACL, 0)
		}
		a.do(OpCreateTTL, "/acl/y", []byte("x"), openACL, int(flagTTL), int64(9999))
		a.do(OpSetACL, "/acl", openACL, -1)
		a.set("/acl", "new", -1)
		a.delete("/acl/x", -1)
		a.multi(OpCreate, "/ok", []byte("x"), openACL, 0, OpSetData, "/acl", []byte("x"), -1, OpDelete, "/ok", -1)
		a.do(OpMultiRead, OpGetData, "/acl", true, OpGetChildren, "/acl", true, OpGetData, "/acl/x", true, opError)
		b.set("/acl", "new", -1)
		a.do(OpSync, "/")
	})
	conform(t, "odd identities", func(s *stage) {
		for _, try := range []struct {
			scheme string
			data   []byte
		}{{"digest", []byte{}}, {"digest", []byte(":")}, {"digest", []byte("a:b:c")}, {"ip", nil}} {
			a := s.client()
			a.do(OpAuth, 0, try.scheme, try.data)
			a.do(OpWhoAmI)
		}
		for _, scheme := range []string{"digest", "world", "auth", "super", "x509", "sasl", ""} {
			a := s.client()
			a.do(OpAuth, 0, scheme, []byte(nil))
			a.awaitEnd()
		}
	})
	conform(t, "sasl", func(s *stage) {
		a := s.client()
		a.do(OpSASL, []byte("token"))
		a.do(OpSASL, []byte{})
		a.do(OpPing)
	})
	conformSince39(t, "events", "who gets events of nodes that he may not read depends on whether CVE-2024-23944 is corrected", func(s *stage) {
		a, b := s.client(), s.client()
		a.do(OpAuth, 0, "digest", []byte("joe:secret"))
		private := []ACL{{permAll, auth}}
		b.do(OpAddWatch, "/", 1)
		b.do(OpAddWatch, "/acl", 0)
		for range 2 {
			a.do(OpCreate, "/acl", []byte("x"), private, 0)
			a.do(OpCreate, "/acl/open", []byte("x"), openACL, 0)
			a.do(OpCreate, "/acl/closed", []byte("x"), private, 0)
			a.set("/acl", "new", -1)
			a.set("/acl/open", "new", -1)
			a.set("/acl/closed", "new", -1)
			a.do(OpSetACL, "/acl", openACL, -1)
			a.set("/acl", "newer", -1)
			b.get("/acl", true)
			b.children("/acl", true)
			b.exists("/acl/later", true)
			a.do(OpSetACL, "/acl", private, -1)
			a.do(OpCreate, "/acl/later", []byte("x"), private, 0)
			a.delete("/acl/later", -1)
			a.delete("/acl/closed", -1)
			a.delete("/acl/open", -1)
			a.do(OpSetACL, "/acl", openACL, -1)
			a.delete("/acl", -1)
		}
		b.do(OpSync, "/")
	})
	conformSince39(t, "watches", "exists needs no permission", func(s *stage) {
		a, b := s.client(), s.client()
		a.do(OpAuth, 0, "digest", []byte("joe:secret"))
		a.do(OpCreate, "/acl", []byte("x"), []ACL{{permAll, auth}}, 0)
		b.exists("/acl", true)
		a.do(OpSetACL, "/acl", openACL, -1)
		a.set("/acl", "new", -1)
		b.do(OpSync, "/")
	})
	conformSince39(t, "exists", "exists needs no permission", func(s *stage) {
		a, b := s.client(), s.client()
		a.do(OpAuth, 0, "digest", []byte("joe:secret"))
		a.do(OpCreate, "/acl", []byte("x"), []ACL{{permAll, auth}}, 0)
		a.exists("/acl", false)
		b.exists("/acl", false)
	})
}
