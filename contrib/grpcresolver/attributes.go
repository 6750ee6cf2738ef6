package grpcresolver

import (
	"google.golang.org/grpc/attributes"
	"google.golang.org/grpc/resolver"

	"github.com/gocurator/curator/recipes/discovery"
)

// instanceKey is the key of an instance in the attributes of its endpoint.
type instanceKey struct{}

// InstanceOf returns the registry's entry for an endpoint, for custom balancers: its
// metadata, payload, and time of registration. For an endpoint of another resolver,
// InstanceOf returns nil. The entry is shared: do not change it.
func InstanceOf(e resolver.Endpoint) *discovery.Entry {
	entry, _ := e.Attributes.Value(instanceKey{}).(*discovery.Entry)
	return entry
}

// endpoint returns an endpoint whose attributes have the registry's entry. The address
// has no attributes, because a change of attributes would re-create the connection. The
// address has no ServerName either, because a writer to the registry must not decide
// whom TLS trusts.
func endpoint(address string, e *discovery.Entry) resolver.Endpoint {
	return resolver.Endpoint{
		Addresses:  []resolver.Address{{Addr: address}},
		Attributes: attributes.New(instanceKey{}, e),
	}
}

// isSame reports whether a channel need not receive a change from a to b.
func isSame(a, b resolver.Endpoint) bool {
	return a.Addresses[0].Addr == b.Addresses[0].Addr && a.Attributes.Equal(b.Attributes)
}
