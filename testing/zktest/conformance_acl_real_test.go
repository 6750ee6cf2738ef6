//go:build real

package zktest

import (
	"testing"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func TestACLsConform(t *testing.T) {
	auth := wire.ID{Scheme: "auth", ID: ""}
	conform(t, "validity", func(s *stage) {
		a := s.client()
		for _, id := range []wire.ID{
			datatree.Anyone, auth, {Scheme: "world", ID: "nobody"}, {Scheme: "world", ID: ""}, {Scheme: "", ID: ""}, {Scheme: "x509", ID: "me"}, {Scheme: "sasl", ID: "me"},
			{Scheme: "digest", ID: "abc"}, {Scheme: "digest", ID: "a:b"}, {Scheme: "digest", ID: "a:b:c"}, {Scheme: "digest", ID: ""},
			{Scheme: "digest", ID: ":"}, {Scheme: "digest", ID: "a:"}, {Scheme: "digest", ID: ":b"}, {Scheme: "digest", ID: "a:b:"}, {Scheme: "digest", ID: "::b"},
			{Scheme: "ip", ID: "10.0.0.1"}, {Scheme: "ip", ID: "10.0.0.0/8"}, {Scheme: "ip", ID: "10.1.2.3/8"}, {Scheme: "ip", ID: "300.1.1.1"},
			{Scheme: "ip", ID: "10.0.0.0/33"}, {Scheme: "ip", ID: "10.0.0"}, {Scheme: "ip", ID: ""}, {Scheme: "ip", ID: "10.0.0.0/"}, {Scheme: "ip", ID: "010.0.+0.1/08"},
			{Scheme: "super", ID: ""}, {Scheme: "super", ID: "x"}, {Scheme: "auth", ID: "anything"},
		} {
			a.do(wire.OpCreate, "/n-", []byte("x"), []wire.ACL{{Perms: wire.PermAll, ID: id}}, int(wire.FlagSequence))
			a.do(wire.OpCreate, "/n-", []byte("x"), []wire.ACL{{Perms: wire.PermAll, ID: datatree.Anyone}, {Perms: wire.PermRead, ID: id}}, int(wire.FlagSequence))
		}
		a.do(wire.OpCreate, "/twice", []byte("x"), []wire.ACL{{Perms: wire.PermAll, ID: datatree.Anyone}, {Perms: wire.PermRead, ID: datatree.Anyone}, {Perms: wire.PermAll, ID: datatree.Anyone}}, 0)
		a.do(wire.OpGetACL, "/twice")
		a.do(wire.OpCreate, "/none", []byte("x"), []wire.ACL{{Perms: 0, ID: datatree.Anyone}}, 0)
		a.get("/none", false)
	})
	conformUntil393(t, "IPv6", "takes addresses of IPv6", func(s *stage) {
		a := s.client()
		for _, id := range []wire.ID{{Scheme: "ip", ID: "::1"}, {Scheme: "ip", ID: "::1/64"}} {
			a.do(wire.OpCreate, "/n", []byte("x"), []wire.ACL{{Perms: wire.PermAll, ID: id}}, 0)
			a.do(wire.OpCreate, "/n", []byte("x"), []wire.ACL{{Perms: wire.PermAll, ID: datatree.Anyone}, {Perms: wire.PermRead, ID: id}}, 0)
		}
	})
	conform(t, "enforcement", func(s *stage) {
		a, b := s.client(), s.client()
		a.do(wire.OpAuth, 0, "digest", []byte("joe:secret"))
		a.do(wire.OpCreate, "/acl", []byte("x"), []wire.ACL{{Perms: wire.PermAll, ID: auth}}, 0)
		a.do(wire.OpGetACL, "/acl")
		b.do(wire.OpGetACL, "/acl")
		b.get("/acl", true)
		b.children("/acl", true)
		b.do(wire.OpMultiRead, wire.OpGetData, "/acl", false, wire.OpGetChildren, "/acl", false, wire.OpError)
		b.set("/acl", "", 7)
		b.multi(wire.OpCheck, "/acl", 7)
		b.do(wire.OpSetACL, "/acl", datatree.OpenACL, 7)
		b.create("/acl/x", none)
		b.create("/acl/", none)
		a.do(wire.OpSetACL, "/acl", []wire.ACL{{Perms: wire.PermRead, ID: datatree.Anyone}, {Perms: wire.PermAll, ID: auth}}, 0)
		b.do(wire.OpGetACL, "/acl")
		b.get("/acl", true)
		a.create("/acl/kid", none)
		b.delete("/acl/kid", 7)
		b.delete("/acl/nokid", 7)
		b.do(wire.OpAuth, 0, "digest", []byte("joe:wrong"))
		b.set("/acl", "", -1)
		b.do(wire.OpAuth, 0, "digest", []byte("joe:secret"))
		b.set("/acl", "", -1)
		b.do(wire.OpCreate, "/both", []byte("x"), []wire.ACL{{Perms: wire.PermAll, ID: auth}}, 0)
		a.set("/both", "", -1)
	})
	conform(t, "addresses", func(s *stage) {
		a := s.client()
		for _, pattern := range []string{"127.0.0.1", "127.0.0.2", "127.0.0.0/8", "127.9.9.9/8", "126.0.0.0/7", "128.0.0.0/8", "0.0.0.0/1", "128.0.0.0/0", "0127.0.0.1"} {
			a.do(wire.OpCreate, "/p", []byte("x"), []wire.ACL{{Perms: wire.PermAll, ID: wire.ID{Scheme: "ip", ID: pattern}}}, 0)
			a.get("/p", false)
			a.delete("/p", -1)
		}
	})
	conform(t, "auth", func(s *stage) {
		a := s.client()
		a.do(wire.OpAuth, 0, "ip", []byte("1.2.3.4"))
		a.do(wire.OpAuth, 0, "digest", []byte("no password"))
		a.do(wire.OpAuth, 0, "kerberos", []byte("x"))
		a.awaitEnd()
		a.reconnect()
	})
	conform(t, "several identities", func(s *stage) {
		a, b := s.client(), s.client()
		a.do(wire.OpAuth, 0, "digest", []byte("joe:secret"))
		a.do(wire.OpAuth, 0, "digest", []byte("sue:secret"))
		a.do(wire.OpAuth, 0, "digest", []byte("sue:secret"))
		joe := datatree.DigestID("joe:secret")
		a.do(wire.OpCreate, "/acl", []byte("x"), []wire.ACL{{Perms: wire.PermRead, ID: auth}, {Perms: wire.PermAll, ID: joe}, {Perms: wire.PermRead, ID: auth}, {Perms: wire.PermRead, ID: joe}, {Perms: wire.PermAll, ID: auth}}, 0)
		a.do(wire.OpGetACL, "/acl")
		b.do(wire.OpGetACL, "/acl")
		b.do(wire.OpAuth, 0, "digest", []byte("sue:secret"))
		b.do(wire.OpGetACL, "/acl")
		b.do(wire.OpSetACL, "/acl", []wire.ACL{{Perms: wire.PermRead, ID: wire.ID{Scheme: "auth", ID: "ignored"}}, {Perms: wire.PermWrite, ID: datatree.Anyone}}, 0)
		b.do(wire.OpGetACL, "/acl")
		a.do(wire.OpGetACL, "/acl")
		a.do(wire.OpSetACL, "/acl", datatree.OpenACL, 1)
	})
	conform(t, "no permission at all", func(s *stage) {
		a, b := s.client(), s.client()
		b.do(wire.OpAuth, 0, "digest", []byte("joe:secret"))
		b.do(wire.OpCreate, "/acl", []byte("x"), []wire.ACL{{Perms: wire.PermAll, ID: auth}}, 0)
		b.create("/acl/x", none)
		for _, op := range []wire.Op{wire.OpGetData, wire.OpGetChildren, wire.OpGetChildren2} {
			a.do(op, "/acl", true)
		}
		for _, op := range []wire.Op{wire.OpGetACL, wire.OpSync} {
			a.do(op, "/acl")
		}
		for _, op := range []wire.Op{wire.OpCreate, wire.OpCreate2, wire.OpCreateContainer} {
			a.do(op, "/acl/y", []byte("x"), datatree.OpenACL, 0)
		}
		a.do(wire.OpCreateTTL, "/acl/y", []byte("x"), datatree.OpenACL, int(wire.FlagTTL), int64(9999))
		a.do(wire.OpSetACL, "/acl", datatree.OpenACL, -1)
		a.set("/acl", "new", -1)
		a.delete("/acl/x", -1)
		a.multi(wire.OpCreate, "/ok", []byte("x"), datatree.OpenACL, 0, wire.OpSetData, "/acl", []byte("x"), -1, wire.OpDelete, "/ok", -1)
		a.do(wire.OpMultiRead, wire.OpGetData, "/acl", true, wire.OpGetChildren, "/acl", true, wire.OpGetData, "/acl/x", true, wire.OpError)
		b.set("/acl", "new", -1)
		a.do(wire.OpSync, "/")
	})
	conform(t, "odd identities", func(s *stage) {
		for _, try := range []struct {
			scheme string
			data   []byte
		}{{"digest", []byte{}}, {"digest", []byte(":")}, {"digest", []byte("a:b:c")}, {"ip", nil}} {
			a := s.client()
			a.do(wire.OpAuth, 0, try.scheme, try.data)
		}
		for _, scheme := range []string{"digest", "world", "auth", "super", "x509", "sasl", ""} {
			a := s.client()
			a.do(wire.OpAuth, 0, scheme, []byte(nil))
			a.awaitEnd()
		}
	})
	conformSince39(t, "events", "who gets events of nodes that he may not read depends on whether CVE-2024-23944 is corrected", func(s *stage) {
		a, b := s.client(), s.client()
		a.do(wire.OpAuth, 0, "digest", []byte("joe:secret"))
		private := []wire.ACL{{Perms: wire.PermAll, ID: auth}}
		b.do(wire.OpAddWatch, "/", 1)
		b.do(wire.OpAddWatch, "/acl", 0)
		for range 2 {
			a.do(wire.OpCreate, "/acl", []byte("x"), private, 0)
			a.do(wire.OpCreate, "/acl/open", []byte("x"), datatree.OpenACL, 0)
			a.do(wire.OpCreate, "/acl/closed", []byte("x"), private, 0)
			a.set("/acl", "new", -1)
			a.set("/acl/open", "new", -1)
			a.set("/acl/closed", "new", -1)
			a.do(wire.OpSetACL, "/acl", datatree.OpenACL, -1)
			a.set("/acl", "newer", -1)
			b.get("/acl", true)
			b.children("/acl", true)
			b.exists("/acl/later", true)
			a.do(wire.OpSetACL, "/acl", private, -1)
			a.do(wire.OpCreate, "/acl/later", []byte("x"), private, 0)
			a.delete("/acl/later", -1)
			a.delete("/acl/closed", -1)
			a.delete("/acl/open", -1)
			a.do(wire.OpSetACL, "/acl", datatree.OpenACL, -1)
			a.delete("/acl", -1)
		}
		b.do(wire.OpSync, "/")
	})
	conformInEachVersion(t, "watches that are set again", func(s *stage) {
		a, b := s.client(), s.client()
		a.do(wire.OpAuth, 0, "digest", []byte("joe:secret"))
		private := []wire.ACL{{Perms: wire.PermAll, ID: auth}}
		for _, path := range []string{"/same", "/set", "/parent", "/gone"} {
			a.do(wire.OpCreate, path, []byte("x"), private, 0)
		}
		b.do(wire.OpSync, "/")
		seen := s.last
		a.set("/set", "new", -1)
		a.do(wire.OpCreate, "/parent/x", []byte("x"), private, 0)
		a.delete("/gone", -1)
		a.do(wire.OpCreate, "/new", []byte("x"), private, 0)
		for _, path := range []string{"/same", "/set", "/parent", "/gone"} {
			b.do(wire.OpSetWatches, seen, []string{path}, []string{}, []string{})
			b.do(wire.OpSetWatches, seen, []string{}, []string{}, []string{path})
		}
		b.do(wire.OpSetWatches, seen, []string{}, []string{"/new", "/never"}, []string{})
		b.do(wire.OpSync, "/")
	})
	conformInEachVersion(t, "watches", func(s *stage) {
		a, b := s.client(), s.client()
		a.do(wire.OpAuth, 0, "digest", []byte("joe:secret"))
		a.do(wire.OpCreate, "/acl", []byte("x"), []wire.ACL{{Perms: wire.PermAll, ID: auth}}, 0)
		b.exists("/acl", true)
		a.do(wire.OpSetACL, "/acl", datatree.OpenACL, -1)
		a.set("/acl", "new", -1)
		b.do(wire.OpSync, "/")
	})
	conformInEachVersion(t, "exists", func(s *stage) {
		a, b := s.client(), s.client()
		a.do(wire.OpAuth, 0, "digest", []byte("joe:secret"))
		a.do(wire.OpCreate, "/acl", []byte("x"), []wire.ACL{{Perms: wire.PermAll, ID: auth}}, 0)
		a.exists("/acl", false)
		b.exists("/acl", false)
	})
}
