package discovery

import "cmp"

// NerveCodec is the format of AirBnB's Nerve, which Synapse reads. An instance
// needs an address and a port, and cannot be Disabled. Metadata are the labels
// of Nerve. Payload is an object of what else Nerve has, such as name and weight.
// If there is no name, the ID is written.
func NerveCodec() Codec { return nerve{} }

type nerve struct{ plainTree }

func (nerve) Encode(i Instance) (string, []byte, error) {
	object, err := payloadObject(i)
	if err := cmp.Or(checkID(i.ID), checkPlain(i), err); err != nil {
		return "", nil, err
	}
	if object["name"] == nil {
		object["name"] = i.ID
	}
	object["host"], object["port"] = i.Address, i.Port
	if i.Metadata != nil {
		object["labels"] = i.Metadata
	}
	data, err := marshal(object)
	return i.ID, data, err
}

func (nerve) Decode(service, name string, data []byte) (Instance, error) {
	f, err := readFields(data)
	if err != nil {
		return Instance{}, err
	}
	i := Instance{Service: service, ID: name, Metadata: f.labels("labels")}
	i.Address, i.Port = f.endpoint("")
	i.Payload = f.rest("host", "port", "labels")
	return f.instance(i)
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
