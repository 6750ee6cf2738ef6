package zktest

import (
	"crypto/sha1"
	"encoding/base64"
	"net/netip"
	"slices"
	"strings"
)

// ID names a client, or a group of them, in an ACL.
type ID struct{ Scheme, ID string }

// ACL grants permissions to an ID.
type ACL struct {
	Perms int32
	ID
}

const (
	permRead int32 = 1 << iota
	permWrite
	permCreate
	permDelete
	permAdmin

	permAll = permRead | permWrite | permCreate | permDelete | permAdmin
)

var (
	anyone  = ID{Scheme: "world", ID: "anyone"}
	openACL = []ACL{{Perms: permAll, ID: anyone}}

	readOnlyACL = []ACL{{Perms: permRead, ID: anyone}}
)

// permitted reports whether one of ids has one of the permissions perms. A node
// without an ACL is open to everyone.
func permitted(acl []ACL, ids []ID, perms int32) bool {
	if len(acl) == 0 {
		return true
	}
	return slices.ContainsFunc(acl, func(a ACL) bool {
		if a.Perms&perms == 0 {
			return false
		}
		return a.ID == anyone || slices.ContainsFunc(ids, a.admits)
	})
}

// admits reports whether the entry is about the client id.
func (a ACL) admits(id ID) bool {
	if a.Scheme != id.Scheme {
		return false
	}
	if a.Scheme == "ip" {
		return ipMatches(a.ID.ID, id.ID)
	}
	return a.ID == id
}

// ipMatches applies an address or a prefix such as 10.0.0.0/8 to a client.
func ipMatches(pattern, client string) bool {
	addr, err := netip.ParseAddr(client)
	if err != nil {
		return false
	}
	if prefix, err := netip.ParsePrefix(pattern); err == nil {
		return prefix.Masked().Contains(addr)
	}
	want, err := netip.ParseAddr(pattern)
	return err == nil && want == addr
}

// fixACL checks an ACL a client sent and puts the client's own identities in the
// place of the scheme "auth". It returns nil if the ACL is not acceptable.
func fixACL(acl []ACL, ids []ID) []ACL {
	var fixed []ACL
	add := func(a ACL) {
		if !slices.Contains(fixed, a) {
			fixed = append(fixed, a)
		}
	}
	for _, a := range acl {
		switch {
		case a.Scheme == "auth":
			own := slices.DeleteFunc(slices.Clone(ids), func(id ID) bool { return id.Scheme == "ip" })
			if len(own) == 0 {
				return nil
			}
			for _, id := range own {
				add(ACL{Perms: a.Perms, ID: id})
			}
		case validID(a.ID):
			add(a)
		default:
			return nil
		}
	}
	return fixed
}

func validID(id ID) bool {
	switch id.Scheme {
	case "world":
		return id == anyone
	case "digest":
		// Java's split leaves empty parts at the end out.
		return strings.Count(strings.TrimRight(id.ID, ":"), ":") == 1
	case "ip":
		_, errAddr := netip.ParseAddr(id.ID)
		_, errPrefix := netip.ParsePrefix(id.ID)
		return errAddr == nil || errPrefix == nil
	}
	return false
}

// digestID is the identity of whoever knows credentials of the form user:password.
func digestID(credentials string) ID {
	user, _, _ := strings.Cut(credentials, ":")
	sum := sha1.Sum([]byte(credentials))
	return ID{Scheme: "digest", ID: user + ":" + base64.StdEncoding.EncodeToString(sum[:])}
}

// maskDigests hides the hashes from those who may read an ACL but not change it.
func maskDigests(acl []ACL) []ACL {
	masked := slices.Clone(acl)
	for i, a := range masked {
		if a.Scheme == "digest" {
			user, _, _ := strings.Cut(a.ID.ID, ":")
			masked[i].ID.ID = user + ":x"
		}
	}
	return masked
}
