package discovery

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// CloudWeGoCodec is the format of the registries of Kitex and of hertz: the
// modules of kitex-contrib and of hertz-contrib. Their base is the root.
//
// The name of a node is address:port, with brackets around an IPv6 address,
// whatever the instance's ID. Metadata are the tags. Payload is an object with
// the weight, such as {"Weight":10}. Without it, or if it is null, 0 is written,
// which their readers take for 10. An instance needs an address and a port, and cannot be
// Disabled.
//
// A service whose name begins with a slash is the one without it. Kitex and hertz
// read it there as well, and lose the name when they write.
func CloudWeGoCodec() Codec { return cloudWeGo{} }

type cloudWeGo struct{ plainTree }

type weight struct{ Weight int }

// weighted is what a node says. Readers take its names in any case of letters,
// as encoding/json does.
type weighted struct {
	weight

	Tags map[string]string
}

func (cloudWeGo) Encode(i Instance) (string, []byte, error) {
	name, node := hostPort(i), weighted{Tags: i.Metadata}
	if err := cmp.Or(checkPlain(i), checkID(name)); err != nil {
		return "", nil, err
	}
	if len(i.Payload) > 0 && (!isJSON(i.Payload) || json.Unmarshal(i.Payload, &node.weight) != nil) {
		return "", nil, invalid("payload", string(i.Payload), "must be an object with a Weight")
	}
	data, err := marshal(node)
	return name, data, err
}

func (cloudWeGo) Decode(service, name string, data []byte) (i Instance, err error) {
	if len(data) == 0 {
		return i, fmt.Errorf("%w: it has no data", ErrNotInstance)
	}
	if i, err = namedAt(service, name, name, data); err != nil {
		return i, err
	}
	var node weighted
	if json.Unmarshal(data, &node) != nil {
		return Instance{}, fmt.Errorf("no weight and tags: %s", excerpt(data))
	}
	if len(node.Tags) > maxLabels {
		return Instance{}, fmt.Errorf("%d tags are more than %d", len(node.Tags), maxLabels)
	}
	i.Metadata = node.Tags
	i.Payload, err = marshal(node.weight)
	return i, err
}
