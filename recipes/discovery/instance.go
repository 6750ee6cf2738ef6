package discovery

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
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

// Kind says how long an instance's node lives: Java's ServiceType.
type Kind int

// The kinds, by Java's numbers.
const (
	Dynamic           Kind = iota // ephemeral; it is the default
	Static                        // persistent
	Permanent                     // persistent
	DynamicSequential             // ephemeral and sequential
)

var kinds = []string{"DYNAMIC", "STATIC", "PERMANENT", "DYNAMIC_SEQUENTIAL"}

// String returns Java's name of the kind, such as DYNAMIC.
func (k Kind) String() string {
	if k >= 0 && int(k) < len(kinds) {
		return kinds[k]
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// PayloadOf returns the payload of an instance as a value of the user's type. It
// is the zero value if there is none.
//
// A payload may name its Java class: an object in its field @class, and any
// other value in an array of the class and the value. PayloadOf returns that
// value, and leaves it to the user's type whether it has a field for @class.
func PayloadOf[T any](i Instance) (v T, err error) {
	raw := json.RawMessage(bytes.TrimSpace(i.Payload))
	if len(raw) == 0 {
		return v, nil
	}
	if raw[0] == '[' {
		raw, err = withoutClass(raw)
	}
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil {
		return v, fmt.Errorf("payload of instance %s: %w", excerpt(i.ID), err)
	}
	return v, nil
}

// withoutClass returns the value in an array of a class and a value.
func withoutClass(raw json.RawMessage) (value json.RawMessage, err error) {
	var pair []json.RawMessage
	if err := json.Unmarshal(raw, &pair); err != nil {
		return nil, err
	}
	if len(pair) != 2 || pair[0][0] != '"' {
		return nil, invalid("payload", string(raw), "Java needs a class and a value in an array")
	}
	return pair[1], nil
}

// checkedPayload returns a payload that Java can read, or nil if there is none.
func checkedPayload(payload json.RawMessage) (json.RawMessage, error) {
	raw := bytes.TrimSpace(payload)
	var object struct {
		Class *string `json:"@class"`
	}
	switch {
	case len(raw) == 0:
		return nil, nil
	case !isJSON(raw):
		return nil, invalid("payload", string(raw), "must be JSON")
	case raw[0] == '[':
		_, err := withoutClass(raw)
		return raw, err
	case raw[0] == '{' && json.Unmarshal(raw, &object) != nil:
		return nil, invalid("payload", string(raw), "the class must be a string")
	}
	return raw, nil
}
