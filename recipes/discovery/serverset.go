package discovery

import (
	"cmp"
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
	Host string `json:"host"`
	Port int    `json:"port"`
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
	object["serviceEndpoint"], object["status"] = endpoint{i.Address, i.Port}, status
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
	f, err := readFields(i.Payload)
	if err != nil || !isJSON(i.Payload) {
		return nil, invalid("payload", string(i.Payload), "must be a JSON object")
	}
	for key := range f.raw {
		object[key] = f.raw[key]
	}
	return object, nil
}

func (serverset) Decode(service, name string, data []byte) (Instance, error) {
	if !strings.HasPrefix(name, memberPrefix) {
		return Instance{}, ErrNotInstance
	}
	f, err := readFields(data)
	if err != nil {
		return Instance{}, err
	}
	at := f.object("serviceEndpoint")
	i := Instance{Service: service, ID: name, Disabled: f.text("status") != memberAlive}
	i.Address, i.Port = at.endpoint()
	i.Payload = f.rest("serviceEndpoint", "status")
	f.err = cmp.Or(f.err, at.err)
	return f.instance(i)
}
