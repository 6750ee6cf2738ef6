package discovery

import (
	"cmp"
	"encoding/json"
	"strings"
)

// Serversets have more states, such as STARTING. Only an ALIVE instance wants to be
// picked.
const (
	memberPrefix   = "member_"
	memberAlive    = "ALIVE"
	memberStopping = "STOPPING"
)

// ServersetCodec is the format of Twitter's serversets, which Finagle reads. The name of
// an instance's node begins with member_; Encode adds this prefix to an ID without it.
// Decode returns ErrNotInstance for other names.
//
// An instance needs address and port, which are the service endpoint. Encode writes the
// status ALIVE, or STOPPING for a Disabled instance. Decode reads every status except
// ALIVE as Disabled. Payload is an object with the other fields, such as
// additionalEndpoints and shard. Metadata are not written.
func ServersetCodec() Codec { return serverset{} }

type serverset struct{ plainTree }

type endpoint struct {
	Host string     `json:"host"`
	Port javaNumber `json:"port"`
}

func (serverset) Encode(i Instance) (string, []byte, error) {
	status := memberAlive
	if i.Disabled {
		i.Disabled, status = false, memberStopping
	}
	object, err := payloadObject(i)
	if err := cmp.Or(checkID(i.ID), checkPlain(i), err); err != nil {
		return "", nil, err
	}
	if object["additionalEndpoints"] == nil {
		object["additionalEndpoints"] = map[string]endpoint{}
	}
	object["serviceEndpoint"], object["status"] = endpoint{i.Address, javaNumber(i.Port)}, status
	name := memberPrefix + strings.TrimPrefix(i.ID, memberPrefix)
	data, err := marshal(object)
	return name, data, err
}

// payloadObject returns the fields of a payload, which must be an object.
func payloadObject(i Instance) (map[string]any, error) {
	object := map[string]any{}
	if len(i.Payload) == 0 {
		return object, nil
	}
	var fields map[string]json.RawMessage
	if err := unmarshal(i.Payload, &fields); err != nil {
		return nil, invalid("payload", string(i.Payload), "must be a JSON object")
	}
	for key := range fields {
		object[key] = fields[key]
	}
	return object, nil
}

func (serverset) Decode(service, name string, data []byte) (Instance, error) {
	if !strings.HasPrefix(name, memberPrefix) {
		return Instance{}, ErrNotInstance
	}
	var said struct {
		At     endpoint `json:"serviceEndpoint"`
		Status string   `json:"status"`
	}
	var rest map[string]json.RawMessage
	if err := cmp.Or(unmarshal(data, &said), unmarshal(data, &rest)); err != nil {
		return Instance{}, err
	}
	i := Instance{
		Service: service, ID: name, Address: unbracketed(said.At.Host), Port: int(said.At.Port),
		Disabled: said.Status != memberAlive,
	}
	if err := checkEndpoint(i); err != nil {
		return Instance{}, err
	}
	delete(rest, "serviceEndpoint")
	delete(rest, "status")
	var err error
	if len(rest) > 0 {
		i.Payload, err = marshal(rest)
	}
	return i, err
}
