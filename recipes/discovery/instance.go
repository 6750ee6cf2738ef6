package discovery

import (
	"cmp"
	"encoding/json"
	"net"
	"strconv"
	"time"
)

// Instance is what one instance of a service says about itself: where it
// listens, and whatever else its readers want to know.
//
// Its identity is ID, which is the name of its node. Instances that a Directory
// or a Codec returns are shared: do not change their Metadata and Payload.
type Instance struct {
	Service string // the name of the service; it may have slashes
	ID      string // the name of the node, unique within the service
	Address string // a host name or an IP address, without brackets
	Port    int    // 0 if there is none
	TLSPort int    // 0 if there is none

	// Metadata are labels, such as a zone or a version. A format that has no
	// place for them leaves them out.
	Metadata map[string]string

	// Payload is what the format has beyond that, as raw JSON, kept as it was
	// read. It is nil if there is nothing.
	Payload json.RawMessage

	// Disabled means that the instance is visible and does not want to be
	// picked: it drains.
	Disabled bool

	Registered time.Time // the time of its registration; zero if not said
	Kind       Kind      // how long the node lives, as its writer said

	// URISpec says how Java makes a URI of the instance, as raw JSON, kept as it was
	// read: a text such as "{scheme}://{address}:{port}", in quotes, or an object of
	// parts, as Java writes it. It is nil if not said.
	URISpec json.RawMessage
}

// HostPort returns where the instance listens, as net.Dial takes it: the address,
// with brackets if it is one of IPv6, and the port, or the TLS port if there is no
// other. Without an address or a port, it is the address alone.
func (i Instance) HostPort() string {
	port := cmp.Or(i.Port, i.TLSPort)
	if port == 0 || i.Address == "" {
		return i.Address
	}
	return net.JoinHostPort(i.Address, strconv.Itoa(port))
}
