package discovery

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gocurator/curator/internal/printable"
)

// CuratorCodec is the format of Java Curator's curator-x-discovery. The base is
// the basePath of Java's ServiceDiscoveryBuilder.
//
// CuratorCodec writes the payload unchanged. For a reader in Java that expects a class,
// the payload is an object with the class in its field @class, or an array of class and
// value. Java reads an object without a class as a map. The format has no labels, so
// Metadata are not written. The field enabled is written only for a Disabled instance,
// because Java Curator before 2.10 cannot read the field. Strings and booleans in a node
// must be JSON strings and booleans, except in labels; Java also converts numbers to
// strings, and strings to booleans.
//
// Spring Cloud and Dubbo write the same JSON with payloads of their own classes.
// CuratorCodec reads their nodes as SpringCodec and DubboCodec do, with labels and with
// Spring's instance_status. So one base may have nodes of all three formats; FormatOf
// tells them apart.
func CuratorCodec() Codec { return curator{} }

type curator struct{ plainTree }

func (curator) Encode(i Instance) (_ string, _ []byte, err error) {
	i.Payload, err = checkedPayload(i.Payload)
	if err := cmp.Or(checkID(i.ID), err); err != nil {
		return "", nil, err
	}
	return encodeJava(i, i.ID)
}

func (curator) Decode(service, name string, data []byte) (Instance, error) {
	return decodeJava(service, name, data, "")
}

// The Java classes of payloads with labels.
const (
	springClass = "org.springframework.cloud.zookeeper.discovery.ZookeeperInstance"
	dubboClass  = "org.apache.dubbo.registry.zookeeper.ZookeeperInstance"
)

// FormatOf returns the format of an instance that CuratorCodec, SpringCodec or
// DubboCodec has decoded: "spring", "dubbo" or "curator". The class of the payload
// decides.
func FormatOf(i Instance) string {
	var payload struct {
		Class string `json:"@class"`
	}
	if json.Unmarshal(i.Payload, &payload) == nil {
		switch payload.Class {
		case springClass:
			return "spring"
		case dubboClass:
			return "dubbo"
		}
	}
	return "curator"
}

// javaInstance is Java's JSON of an instance, in Java's order.
type javaInstance struct {
	Name       string           `json:"name"`
	ID         string           `json:"id"`
	Address    *string          `json:"address"`
	Port       *javaNumber      `json:"port"`
	TLSPort    *javaNumber      `json:"sslPort"`
	Payload    *json.RawMessage `json:"payload"`
	Registered javaNumber       `json:"registrationTimeUTC"`
	Kind       string           `json:"serviceType"`
	URISpec    *json.RawMessage `json:"uriSpec"`
	Enabled    *bool            `json:"enabled,omitempty"`
}

// javaNumber is an integer as Jackson reads it: possibly in quotes, and without a
// fraction.
type javaNumber int64

func (n *javaNumber) UnmarshalJSON(raw []byte) error {
	if string(raw) == `""` {
		return nil
	}
	var number json.Number
	if err := json.Unmarshal(raw, &number); err != nil || number == "" {
		return err
	}
	float, err := number.Float64()
	*n = javaNumber(float) // exact for ports and times
	return err
}

// encodeJava returns an instance as curator-x-discovery writes it.
func encodeJava(i Instance, id string) (string, []byte, error) {
	if i.Kind < Dynamic || int(i.Kind) >= len(kinds) {
		return "", nil, invalid("kind", i.Kind, "is unknown")
	}
	if len(i.URISpec) > 0 && !isJSON(i.URISpec) {
		return "", nil, invalid("URI", string(i.URISpec), "must be JSON")
	}
	if err := checkInstance(i); err != nil {
		return "", nil, err
	}
	java := javaInstance{
		Name: i.Service, ID: id, Address: orNull(i.Address), Port: orNull(javaNumber(i.Port)),
		TLSPort: orNull(javaNumber(i.TLSPort)), Payload: &i.Payload, Registered: javaNumber(millis(i)),
		Kind: i.Kind.String(), URISpec: &i.URISpec,
	}
	if i.Disabled {
		java.Enabled = new(bool)
	}
	data, err := marshal(java)
	return id, data, err
}

// orNull returns Java's null for an empty value.
func orNull[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// millis returns Java's registration time.
func millis(i Instance) int64 {
	if i.Registered.IsZero() {
		return 0
	}
	return i.Registered.UnixMilli()
}

// decodeJava decodes the JSON of encodeJava and of Java, in a format of FormatOf. If
// format is empty, the payload decides.
func decodeJava(service, name string, data []byte, format string) (Instance, error) {
	enabled := true // without the field; null is false
	java := javaInstance{Enabled: &enabled}
	if err := unmarshal(data, &java); err != nil {
		return Instance{}, err
	}
	i := Instance{
		Service: service, ID: name, Address: unbracketed(orZero(java.Address)),
		Port: int(orZero(java.Port)), TLSPort: int(orZero(java.TLSPort)),
		Payload: orZero(java.Payload), URISpec: orZero(java.URISpec), Disabled: !orZero(java.Enabled),
	}
	if java.Kind != "" {
		i.Kind = Kind(slices.Index(kinds, java.Kind))
	}
	if i.Kind < 0 {
		return Instance{}, fmt.Errorf("serviceType is no kind of service: %s", excerpt(java.Kind))
	}
	if java.Registered != 0 {
		i.Registered = time.UnixMilli(int64(java.Registered)).UTC()
	}
	if err := checkInstance(i); err != nil {
		return Instance{}, err
	}
	if format == "" {
		format = FormatOf(i)
	}
	return withLabels(i, format)
}

func orZero[T any](v *T) (zero T) {
	if v == nil {
		return zero
	}
	return *v
}

// unbracketed returns an address without brackets.
func unbracketed(address string) string { return strings.Trim(address, "[]") }

// unmarshal decodes a JSON object. A node without data, such as a folder, is not meant to
// be an instance.
func unmarshal(data []byte, v any) error {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0:
		return fmt.Errorf("%w: it has no data", ErrNotInstance)
	case len(data) > maxData:
		return fmt.Errorf("%d bytes are more than %d", len(data), maxData)
	case data[0] != '{':
		return fmt.Errorf("no JSON object: %s", excerpt(data))
	case !utf8.Valid(data):
		return errors.New("not UTF-8")
	}
	if err := json.Unmarshal(data, v); err != nil {
		text := err.Error()
		return fmt.Errorf("no JSON object: %s", printable.String(text[:min(200, len(text))]))
	}
	return nil
}

// marshal encodes a value as Java does, without escapes for <, > and &.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func isJSON(raw []byte) bool { return utf8.Valid(raw) && json.Valid(raw) }
