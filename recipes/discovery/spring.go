package discovery

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"strings"
)

// statusLabel is Spring's label that says whether an instance wants to be picked.
const (
	statusLabel = "instance_status"
	statusUp    = "UP"
	statusOut   = "OUT_OF_SERVICE"
)

// SpringCodec is the format of Spring Cloud Zookeeper, whose base is /services.
//
// An instance needs address and port: without them, Spring's readers fail for the whole
// service. Metadata are Spring's metadata. Decode sets Disabled by the label
// instance_status, and Encode sets instance_status by Disabled. Without a URISpec, Encode
// writes Spring's default, with the TLS port if there is one.
//
// Payload is the object that Spring writes around the metadata. Encode takes only the id
// of Spring's application context from Payload; without that, the id is the instance's
// ID.
func SpringCodec() Codec { return spring{} }

type spring struct{ plainTree }

func (spring) Encode(i Instance) (string, []byte, error) {
	context, err := contextID(i)
	if err := cmp.Or(checkID(i.ID), checkEndpoint(i), err); err != nil {
		return "", nil, err
	}
	if len(i.URISpec) == 0 {
		i.URISpec = springURI(i)
	}
	i.Payload, err = marshal(labelled{springClass, context, i.Service, withStatus(i)})
	if err != nil {
		return "", nil, err
	}
	i.Disabled = false
	return encodeJava(i, i.ID)
}

// springURI returns {scheme}://{address}:{port}, as Java writes it, with brackets for
// an IPv6 address: Java adds none.
func springURI(i Instance) json.RawMessage {
	before, after, port := "://", ":", "port"
	if isIPv6(i.Address) {
		before, after = "://[", "]:"
	}
	if i.TLSPort != 0 {
		port = "ssl-port"
	}
	const parts = `{"parts":[{"value":"scheme","variable":true},{"value":"%s","variable":false},` +
		`{"value":"address","variable":true},{"value":"%s","variable":false},{"value":"%s","variable":true}]}`
	return json.RawMessage(fmt.Sprintf(parts, before, after, port))
}

// isIPv6 reports whether an address needs brackets in a URI.
func isIPv6(address string) bool {
	ip, err := netip.ParseAddr(address)
	return err == nil && ip.Is6()
}

// contextID returns the id in the payload of an instance, if any.
func contextID(i Instance) (string, error) {
	var payload labelled
	if len(i.Payload) > 0 && unmarshal(i.Payload, &payload) != nil {
		return "", invalid("payload", string(i.Payload), "must be an object as in Spring's nodes")
	}
	return cmp.Or(payload.ID, i.ID), nil
}

// withStatus returns the metadata with the status that Disabled requires.
func withStatus(i Instance) map[string]string {
	labels := map[string]string{statusLabel: ""}
	maps.Copy(labels, i.Metadata)
	switch up := isUp(labels[statusLabel]); {
	case i.Disabled && up:
		labels[statusLabel] = statusOut
	case !i.Disabled && (!up || i.Metadata[statusLabel] == ""):
		labels[statusLabel] = statusUp
	}
	return labels
}

func isUp(status string) bool { return status == "" || strings.EqualFold(status, statusUp) }

func (spring) Decode(service, name string, data []byte) (Instance, error) {
	return decodeJava(service, name, data, "spring")
}

// labelled is the payload of Spring and Dubbo, whose classes have the same fields.
type labelled struct {
	Class    string     `json:"@class"`
	ID       string     `json:"id"`
	Name     string     `json:"name"`
	Metadata javaLabels `json:"metadata"`
}

// javaLabels are labels as Jackson reads them: numbers and booleans become strings, and a
// null is no label.
type javaLabels map[string]string

func (l *javaLabels) UnmarshalJSON(raw []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	*l = javaLabels{}
	for name, value := range all {
		text := string(value) // of a number or a boolean
		switch text[0] {
		case 'n':
			continue
		case '"', '{', '[':
			if err := json.Unmarshal(value, &text); err != nil {
				return err
			}
		}
		(*l)[name] = text
	}
	return nil
}

// withLabels returns an instance with the metadata of its payload and, in Spring's
// format, with Disabled by the status. Curator's format has no labels. A payload that is
// not an object has no labels; in Java, such a payload fails the whole service.
func withLabels(i Instance, format string) (Instance, error) {
	if format == "curator" || len(i.Payload) == 0 || i.Payload[0] != '{' {
		return i, nil
	}
	var payload labelled
	if err := unmarshal(i.Payload, &payload); err != nil {
		return Instance{}, err
	}
	if len(payload.Metadata) > maxLabels {
		return Instance{}, fmt.Errorf("%d labels are more than %d", len(payload.Metadata), maxLabels)
	}
	if len(payload.Metadata) > 0 {
		i.Metadata = payload.Metadata
	}
	i.Disabled = i.Disabled || format == "spring" && !isUp(i.Metadata[statusLabel])
	return i, nil
}
