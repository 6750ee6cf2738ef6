package discovery

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// fields belong to a JSON object. Their methods read what Jackson reads, and
// keep the first error. Names must be equal, which encoding/json does not ask
// for, and the last of two equal names counts.
type fields struct {
	raw map[string]json.RawMessage
	err error
}

// readFields reads the JSON object at the beginning of data.
func readFields(data []byte) (*fields, error) {
	data = bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n")
	switch {
	case len(data) == 0:
		return nil, fmt.Errorf("%w: it has no data", ErrNotInstance)
	case len(data) > maxData:
		return nil, fmt.Errorf("%d bytes are more than %d", len(data), maxData)
	case data[0] != '{':
		return nil, fmt.Errorf("no JSON object: %s", excerpt(data))
	}
	f := &fields{}
	decoder := json.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(&f.raw); err != nil {
		return nil, fmt.Errorf("no JSON object: %w", err)
	}
	if !utf8.Valid(data[:decoder.InputOffset()]) {
		return nil, errors.New("not UTF-8")
	}
	return f, nil
}

func (f *fields) fail(key, problem string) {
	if f.err == nil {
		f.err = fmt.Errorf("%s is %s: %s", key, problem, excerpt(f.raw[key]))
	}
}

// value returns the JSON of a field, or nil if it is missing or null.
func (f *fields) value(key string) json.RawMessage {
	if raw := f.raw[key]; string(raw) != "null" {
		return raw
	}
	return nil
}

// text returns a string, or a number or boolean as a string.
func (f *fields) text(key string) (s string) {
	raw := f.value(key)
	switch {
	case raw == nil:
	case raw[0] == '{', raw[0] == '[':
		f.fail(key, "no text")
	case raw[0] == '"':
		f.err = cmp.Or(f.err, json.Unmarshal(raw, &s))
	default:
		s = string(raw)
	}
	return s
}

// integer returns a number, also one in quotes. A fraction is cut off.
func (f *fields) integer(key string) int64 {
	text := strings.TrimSpace(f.text(key))
	if text == "" || text == "null" {
		return 0
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(n) >= math.MaxInt64 || math.IsNaN(n) {
		f.fail(key, "no integer")
		return 0
	}
	return int64(n)
}

// port returns a port, or 0 for none.
func (f *fields) port(key string) int {
	n := f.integer(key)
	if n != 0 && !isPort(n) {
		f.fail(key, "no port from 1 to 65535")
	}
	return int(n)
}

// host returns an address without the brackets that some write around it.
func (f *fields) host(key string) string { return strings.Trim(f.text(key), "[]") }

// flag returns a boolean, also one that is a text or a number. Null is false.
func (f *fields) flag(key string) bool {
	switch strings.ToLower(strings.TrimSpace(f.text(key))) {
	case "true":
		return true
	case "false":
		return false
	}
	return f.integer(key) != 0
}

// object returns an object's fields. There are none if it is missing or null.
func (f *fields) object(key string) *fields {
	raw := f.value(key)
	if raw == nil {
		return &fields{}
	}
	object, err := readFields(raw)
	if err != nil {
		f.fail(key, "no object")
		return &fields{}
	}
	return object
}

// labels returns an object of texts. Those that are null are left out.
func (f *fields) labels(key string) map[string]string {
	object, labels := f.object(key), map[string]string{}
	if len(object.raw) > maxLabels {
		f.fail(key, "more than 1000 labels")
		return nil
	}
	for label := range object.raw {
		if object.value(label) != nil {
			labels[label] = object.text(label)
		}
	}
	if object.err != nil {
		f.fail(key, "no object of texts")
	}
	if len(labels) == 0 {
		return nil
	}
	return labels
}

// endpoint returns the host and the port of a service endpoint, which needs both.
func (f *fields) endpoint() (host string, port int) {
	host, port = f.host("host"), f.port("port")
	if f.err == nil && (host == "" || port == 0) {
		f.err = errors.New("host or port of the service endpoint is missing")
	}
	return host, port
}

// instance returns what the fields are about, unless one of them is wrong.
func (f *fields) instance(i Instance) (Instance, error) {
	if f.err != nil {
		return Instance{}, f.err
	}
	return i, nil
}

// rest returns the other fields as an object, or nil if there are none.
func (f *fields) rest(known ...string) json.RawMessage {
	for _, key := range known {
		delete(f.raw, key)
	}
	if len(f.raw) == 0 {
		return nil
	}
	raw, err := marshal(f.raw)
	f.err = cmp.Or(f.err, err)
	return raw
}

// marshal encodes a value as Java does, without escapes for <, > and &.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
