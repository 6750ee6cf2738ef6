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

// Instance describes one instance of a service: its address, and what else clients need
// to know.
//
// ID identifies the instance, and is the name of its node. Instances that a Directory or
// a Codec returns are shared: do not change their Metadata and Payload.
type Instance struct {
	Service string // the name of the service; it may have slashes
	ID      string // the name of the node, unique within the service
	Address string // a host name or an IP address, without brackets
	Port    int    // 0 for none
	TLSPort int    // 0 for none

	// Metadata are labels, such as a zone or a version. Formats without labels drop them.
	Metadata map[string]string

	// Payload has further fields of the format, as the raw JSON that was read. It is nil
	// if there are none.
	Payload json.RawMessage

	// Disabled means that the instance is visible and does not want to be picked, for
	// example because it drains.
	Disabled bool

	Registered time.Time // the time of registration; zero if unknown
	Kind       Kind      // how long the node lives, as its writer set it

	// URISpec is the template for a URI of the instance in Java, as the raw JSON that
	// was read: a quoted string such as "{scheme}://{address}:{port}", or an object of
	// parts, as Java writes it. It is nil if there is none.
	URISpec json.RawMessage
}

// HostPort returns address and port in the form of net.Dial, with the TLS port if there
// is no other port, and with brackets around an IPv6 address. Without a port, HostPort
// returns the address alone.
func (i Instance) HostPort() string {
	port := cmp.Or(i.Port, i.TLSPort)
	if port == 0 || i.Address == "" {
		return i.Address
	}
	return net.JoinHostPort(i.Address, strconv.Itoa(port))
}

// Kind says how long an instance's node lives. It is Java's ServiceType.
type Kind int

// The kinds, with Java's numbers.
const (
	Dynamic           Kind = iota // ephemeral; the default
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

// PayloadOf decodes the payload of an instance into a T. Without a payload, PayloadOf
// returns the zero value.
//
// A payload may name its Java class: an object has the class in its field @class, and
// any other value stands in an array of class and value. PayloadOf decodes the value in
// such an array. T may have a field for @class.
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

// withoutClass returns the value of an array of class and value.
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

// checkedPayload returns a payload that Java can read, nil for none, or an error.
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
