package discovery

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CuratorOption configures a CuratorCodec.
type CuratorOption func(*curator)

// WithClass names the Java class of the payloads that the codec writes, such as
// com.acme.Details. It is written with each payload that does not name one. A
// reader in Java makes an object of that class. Without it, an object becomes a
// map, and an array must name its class.
func WithClass(name string) CuratorOption {
	return func(c *curator) {
		c.class = name
		if name == "" {
			c.fault = invalid("class", name, "must not be empty")
		}
	}
}

// WithEnabled always writes the field enabled. Without the option, it is written
// only for an instance that is Disabled. Java Curator before 2.10 cannot read
// it.
func WithEnabled() CuratorOption { return func(c *curator) { c.enabled = true } }

// CuratorCodec is the format of Java Curator's curator-x-discovery. The base is
// the basePath of Java's ServiceDiscoveryBuilder.
//
// A payload is written as it is, except for its class: see WithClass. Metadata are
// left out, because the format has none. Spring Cloud and Dubbo write the same JSON
// with a payload of their class: CuratorCodec reads such a node as SpringCodec or
// DubboCodec does, with its labels and with Spring's instance_status. So one base
// may have all three. FormatOf tells them apart. An option that cannot be used is an
// error of Dir.
func CuratorCodec(opts ...CuratorOption) Codec {
	c := &curator{}
	if err := applyAll(c, opts); err != nil {
		c.fault = err
	}
	return c
}

type curator struct {
	plainTree
	class   string
	enabled bool
	fault   error // says which option cannot be used; or nil
}

func (c *curator) Dir(service string) (string, error) {
	if c.fault != nil {
		return "", c.fault
	}
	return c.plainTree.Dir(service)
}

func (c *curator) Encode(i Instance) (string, []byte, error) {
	payload, err := withClass(i.Payload, c.class)
	if err := cmp.Or(c.fault, checkID(i.ID), err); err != nil {
		return "", nil, err
	}
	i.Payload = payload
	return encodeJava(i, i.ID, c.enabled || i.Disabled)
}

func (c *curator) Decode(service, name string, data []byte) (Instance, error) {
	i, err := decodeJava(service, name, data)
	if err != nil {
		return i, err
	}
	switch FormatOf(i) {
	case "spring":
		return withSpringLabels(i)
	case "dubbo":
		return withLabels(i)
	}
	return i, nil
}

// javaInstance is Java's JSON of an instance, in Java's order.
type javaInstance struct {
	Name       string          `json:"name"`
	ID         string          `json:"id"`
	Address    *string         `json:"address"`
	Port       *int            `json:"port"`
	TLSPort    *int            `json:"sslPort"`
	Payload    json.RawMessage `json:"payload"`
	Registered int64           `json:"registrationTimeUTC"`
	Kind       any             `json:"serviceType"`
	URISpec    *javaURISpec    `json:"uriSpec"`
	Enabled    *bool           `json:"enabled,omitempty"`
}

type javaURISpec struct {
	Parts []uriPart `json:"parts"`
}

// encodeJava returns an instance as curator-x-discovery writes it.
func encodeJava(i Instance, id string, enabled bool) (string, []byte, error) {
	parts, err := i.URISpec.parts()
	kind := i.Kind.String()
	if i.Kind < Dynamic || i.Kind > NoKind {
		err = invalid("kind", kind, "is unknown")
	}
	if err := cmp.Or(err, checkInstance(i)); err != nil {
		return "", nil, err
	}
	up := !i.Disabled
	java := javaInstance{
		Name: i.Service, ID: id, Address: orNull(i.Address), Port: orNull(i.Port), TLSPort: orNull(i.TLSPort),
		Payload: i.Payload, Registered: millis(i),
	}
	if i.Kind != NoKind {
		java.Kind = kind
	}
	if len(parts) > 0 { // Java cannot read null as the parts
		java.URISpec = &javaURISpec{parts}
	}
	if enabled {
		java.Enabled = &up
	}
	data, err := marshal(java)
	return id, data, err
}

// orNull returns Java's null for what an instance does not have.
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

// decodeJava reads what encodeJava writes. Of the other writers, it takes what
// Java's JsonInstanceSerializer takes.
func decodeJava(service, name string, data []byte) (Instance, error) {
	f, err := readFields(data)
	if err != nil {
		return Instance{}, err
	}
	i := Instance{
		Service: service, ID: name,
		Address: f.host("address"), Port: f.port("port"), TLSPort: f.port("sslPort"),
		Payload: f.value("payload"), Kind: f.kind("serviceType"), URISpec: f.uriSpec("uriSpec"),
	}
	if _, ok := f.raw["enabled"]; ok {
		i.Disabled = !f.flag("enabled")
	}
	if ms := f.integer("registrationTimeUTC"); ms != 0 {
		i.Registered = time.UnixMilli(ms).UTC()
	}
	return f.instance(i)
}

// kind reads Java's name or number of a kind.
func (f *fields) kind(key string) Kind {
	if _, ok := f.raw[key]; !ok {
		return Dynamic
	}
	if f.value(key) == nil {
		return NoKind
	}
	text := strings.TrimSpace(f.text(key))
	n := slices.Index(kinds, text)
	if number, err := strconv.Atoi(text); err == nil {
		n = number
	}
	if n < 0 || n >= len(kinds) {
		f.fail(key, "no kind of service")
	}
	return Kind(n)
}
