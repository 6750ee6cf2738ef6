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
			{"ip", "10.0.0.0/33"}, {"ip", "10.0.0"}, {"ip", ""}, {"ip", "10.0.0.0/"},
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
		for _, pattern := range []string{"127.0.0.1", "127.0.0.2", "127.0.0.0/8", "127.9.9.9/8", "126.0.0.0/7", "128.0.0.0/8", "0.0.0.0/1"} {
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
	conformSince39(t, "exists", "exists needs no permission", func(s *stage) {
		a, b := s.client(), s.client()
		a.do(OpAuth, 0, "digest", []byte("joe:secret"))
		a.do(OpCreate, "/acl", []byte("x"), []ACL{{permAll, auth}}, 0)
		a.exists("/acl", false)
		b.exists("/acl", false)
	})
}
