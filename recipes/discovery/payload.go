package discovery

import (
	"bytes"
	"encoding/json"
	"fmt"
)

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
