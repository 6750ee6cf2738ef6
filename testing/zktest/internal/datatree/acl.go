package datatree

import (
	"crypto/sha1"
	"encoding/base64"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// These identities and ACLs have a fixed meaning.
var (
	Anyone  = wire.ID{Scheme: "world", ID: "anyone"}
	OpenACL = []wire.ACL{{Perms: wire.PermAll, ID: Anyone}}

	readOnlyACL = []wire.ACL{{Perms: wire.PermRead, ID: Anyone}}
)

// Permitted reports whether one of the identities has one of the permissions. A node
// without an ACL permits everything to every client.
func Permitted(acl []wire.ACL, ids []wire.ID, perms int32) bool {
	if len(acl) == 0 {
		return true
	}
	return slices.ContainsFunc(acl, func(a wire.ACL) bool {
		if a.Perms&perms == 0 {
			return false
		}
		return a.ID == Anyone || slices.ContainsFunc(ids, func(id wire.ID) bool { return admits(a, id) })
	})
}

// admits reports whether the entry includes the client's identity.
func admits(a wire.ACL, id wire.ID) bool {
	if a.Scheme != id.Scheme {
		return false
	}
	if a.Scheme == "ip" {
		return ipMatches(a.ID.ID, id.ID)
	}
	return a.ID == id || a.Scheme == "sasl" && id.ID == "super"
}

// kerberosName matches the names that ZooKeeper takes for Kerberos names
// (server.auth.KerberosName). Names of other users have no @.
var kerberosName = regexp.MustCompile(`^([^@]*|[^/@]*(/[^/@]*)?@[^/@]*)$`)

// ipMatches applies an address or a prefix such as 10.0.0.0/8 to a client.
func ipMatches(pattern, client string) bool {
	network := parseIPv4(pattern)
	return network != nil && network.Contains(net.ParseIP(client).To4())
}

// parseIPv4 reads an address or a prefix like ZooKeeper 3.9, which does not know IPv6. Each
// part is a number in Java's syntax, and may have a sign and leading zeros. For any other
// text, parseIPv4 returns nil.
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

// fixACL checks a client's ACL, removes duplicate entries, and replaces the scheme "auth" by
// the client's own identities. It returns nil if the ACL is invalid.
func (tx *Txn) fixACL(acl []wire.ACL) []wire.ACL {
	var fixed []wire.ACL
	for i, a := range acl {
		switch {
		case slices.Contains(acl[:i], a):
		case a.Scheme == "auth":
			before := len(fixed)
			for _, id := range tx.IDs {
				if id.Scheme == "digest" || id.Scheme == "sasl" { // only these schemes authenticate a client
					fixed = append(fixed, wire.ACL{Perms: a.Perms, ID: id})
				}
			}
			if len(fixed) == before {
				return nil
			}
		case tx.validID(a.ID):
			fixed = append(fixed, a)
		default:
			return nil
		}
	}
	return fixed
}

func (tx *Txn) validID(id wire.ID) bool {
	switch id.Scheme {
	case "world":
		return id == Anyone
	case "digest":
		// Java's split leaves out empty parts at the end.
		return strings.Count(strings.TrimRight(id.ID, ":"), ":") == 1
	case "ip":
		return parseIPv4(id.ID) != nil
	case "sasl":
		return tx.Tree.SASL && kerberosName.MatchString(id.ID)
	}
	return false
}

// DigestID returns the identity of a client with credentials of the form user:password.
func DigestID(credentials string) wire.ID {
	user, _, _ := strings.Cut(credentials, ":")
	sum := sha1.Sum([]byte(credentials))
	return wire.ID{Scheme: "digest", ID: user + ":" + base64.StdEncoding.EncodeToString(sum[:])}
}

// MaskDigests hides the hashes in an ACL from clients that may not change the ACL.
func MaskDigests(acl []wire.ACL) []wire.ACL {
	masked := slices.Clone(acl)
	for i, a := range masked {
		if a.Scheme == "digest" {
			user, _, _ := strings.Cut(a.ID.ID, ":")
			masked[i].ID.ID = user + ":x"
		}
	}
	return masked
}
