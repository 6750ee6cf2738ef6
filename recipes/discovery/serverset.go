package discovery

import (
	"cmp"
	"encoding/json"
	"strings"
)

// Serversets know of other states, such as STARTING. All but the first mean that
// an instance is not to be picked.
const (
	memberPrefix   = "member_"
	memberAlive    = "ALIVE"
	memberStopping = "STOPPING"
)

// ServersetCodec is the format of Twitter's serversets, which Finagle reads. The
// names of nodes begin with member_, and Encode adds that to an ID which does
// not. Nodes with other names are no instances.
//
// An instance needs an address and a port, which are the service endpoint. Its
// status is ALIVE, and STOPPING if it is Disabled; any status but ALIVE is read
// as Disabled. Payload is an object of what else there is, such as
// additionalEndpoints and shard. Metadata are left out.
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
		Service: service, ID: name, Address: unbracketed(said.At.Host), Port: int(said.At.Port), Disabled: said.Status != memberAlive,
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
