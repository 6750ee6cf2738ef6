package zktest

import (
	"crypto/sha1"
	"encoding/base64"
	"net"
	"slices"
	"strconv"
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
	superID = ID{Scheme: "super"} // no ACL applies to it
	openACL = []ACL{{Perms: permAll, ID: anyone}}

	readOnlyACL = []ACL{{Perms: permRead, ID: anyone}}
)

// permitted reports whether one of ids has one of the permissions perms. A node
// without an ACL is open to everyone.
func permitted(acl []ACL, ids []ID, perms int32) bool {
	if len(acl) == 0 || slices.Contains(ids, superID) {
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
	network := parseIPv4(pattern)
	return network != nil && network.Contains(net.ParseIP(client).To4())
}

// parseIPv4 reads an address or a prefix as ZooKeeper 3.9 does, which knows no IPv6 and takes each part for a number as
// Java writes them: signs and leading zeros are fine. It returns nil for anything else.
func parseIPv4(pattern string) *net.IPNet {
	address, prefix, hasPrefix := strings.Cut(pattern, "/")
	parts, bits := strings.Split(address, "."), 32
	if len(parts) != net.IPv4len {
		return nil
	}
	ip := make(net.IP, net.IPv4len)
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n > 255 {
			return nil
		}
		ip[i] = byte(n)
	}
	if hasPrefix {
		n, err := strconv.Atoi(prefix)
		if err != nil || n < 0 || n > bits {
			return nil
		}
		bits = n
	}
	mask := net.CIDRMask(bits, 32)
	return &net.IPNet{IP: ip.Mask(mask), Mask: mask}
}

// fixACL checks an ACL a client sent, leaves out what it says twice, and puts the client's own identities in the place
// of the scheme "auth". It returns nil if the ACL is not acceptable.
func fixACL(acl []ACL, ids []ID) []ACL {
	var fixed []ACL
	for i, a := range acl {
		switch {
		case slices.Contains(acl[:i], a):
		case a.Scheme == "auth":
			before := len(fixed)
			for _, id := range ids {
				if id.Scheme == "digest" { // the only scheme by which a client proves who it is
					fixed = append(fixed, ACL{Perms: a.Perms, ID: id})
				}
			}
			if len(fixed) == before {
				return nil
			}
		case validID(a.ID):
			fixed = append(fixed, a)
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
		return parseIPv4(id.ID) != nil
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
