package discovery

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// classField is where Java has the class of an object.
const classField = "@class"

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
		_, raw, err = classAndValue(raw)
	}
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil {
		return v, fmt.Errorf("payload of instance %s: %w", excerpt(i.ID), err)
	}
	return v, nil
}

// classAndValue splits an array of a class and a value.
func classAndValue(raw json.RawMessage) (class string, value json.RawMessage, err error) {
	var pair []json.RawMessage
	if err := json.Unmarshal(raw, &pair); err != nil {
		return "", nil, err
	}
	if len(pair) != 2 || pair[0][0] != '"' {
		return "", nil, invalid("payload", string(raw), "Java needs a class and a value in an array")
	}
	err = json.Unmarshal(pair[0], &class)
	return class, pair[1], err
}

func isJSON(raw []byte) bool { return utf8.Valid(raw) && json.Valid(raw) }

// withClass returns a payload that names its Java class, as far as Java needs
// that. Without a class it only checks that Java can read the payload.
func withClass(payload json.RawMessage, class string) (json.RawMessage, error) {
	raw := bytes.TrimSpace(payload)
	switch {
	case len(raw) == 0:
		return nil, nil
	case !isJSON(raw):
		return nil, invalid("payload", string(raw), "must be JSON")
	case raw[0] == '{':
		return objectWithClass(raw, class)
	case raw[0] == '[':
		had, _, err := classAndValue(raw)
		if class == "" || err == nil && had == class {
			return raw, err
		}
	}
	if class == "" || string(raw) == "null" {
		return raw, nil
	}
	return marshal([]any{class, json.RawMessage(raw)})
}

func objectWithClass(raw json.RawMessage, class string) (json.RawMessage, error) {
	f, err := readFields(raw)
	if err != nil {
		return nil, invalid("payload", string(raw), err.Error())
	}
	if named, ok := f.raw[classField]; ok && named[0] != '"' {
		return nil, invalid("payload", string(raw), "the class must be a string")
	} else if ok || class == "" {
		return raw, nil
	}
	name, err := marshal(class)
	if len(f.raw) > 0 {
		name = append(name, ',')
	}
	return append(append([]byte(`{"`+classField+`":`), name...), raw[1:]...), err
}
