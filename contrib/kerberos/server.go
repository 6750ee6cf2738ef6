package kerberos

import (
	"cmp"
	"context"
	"net"
	"slices"
	"strings"
)

// resolver is the part of net.Resolver that this package needs.
type resolver interface {
	LookupHost(ctx context.Context, host string) ([]string, error)
	LookupSRV(ctx context.Context, service, proto, name string) (string, []*net.SRV, error)
	LookupAddr(ctx context.Context, address string) ([]string, error)
}

// serverPrincipal returns the principal of the server at a host, by the rules of ZooKeeper's
// SaslServerPrincipal and of the JDK, which completes short names in any case.
func (m *Mechanism) serverPrincipal(ctx context.Context, host string) principal {
	if m.server.name != "" {
		return m.server
	}
	asGiven := m.config.HostNamesAsGiven && net.ParseIP(host) == nil
	if !asGiven || !strings.Contains(host, ".") {
		name := canonical(ctx, m.resolver, host)
		if !asGiven || strings.HasPrefix(strings.ToLower(name), strings.ToLower(host)+".") {
			host = name
		}
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	name := cmp.Or(m.config.ServiceName, "zookeeper") + "/" + host
	return principal{name, cmp.Or(m.krb5.ResolveRealm(host), m.client.realm)}
}

// canonical does what Java's InetAddress.getCanonicalHostName does. It looks up the host's
// first address and the name of the address, and returns the name if the name resolves to the
// same address. Otherwise canonical returns host.
func canonical(ctx context.Context, r resolver, host string) string {
	addresses, err := r.LookupHost(ctx, host)
	if err != nil || len(addresses) == 0 {
		return host
	}
	names, err := r.LookupAddr(ctx, addresses[0])
	if err != nil || len(names) == 0 {
		return host
	}
	if forward, err := r.LookupHost(ctx, names[0]); err != nil || !slices.Contains(forward, addresses[0]) {
		return host
	}
	return names[0]
}
