package discovery

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// RPCXCodec is the format of rpcx. The base is what rpcx calls its base path.
//
// The name of a node is network@address:port, such as tcp@10.0.0.7:8972, whatever
// the instance's ID. Metadata are rpcx's, such as weight and group. If there are
// several values of a name, the first one counts. Their state says whether the
// instance is Disabled, and Disabled decides what is written there. An instance
// needs an address and a port.
//
// Payload is an object with the network and with the metadata as they are in the
// node, which have all values. Of it, Encode takes the network. Without one, or if
// the payload is null, that is tcp.
//
// rpcx watches the names of the nodes only. Its clients hear of a Drain in place when
// another node comes or goes.
func RPCXCodec() Codec { return rpcx{} }

type rpcx struct{ plainTree }

// rpcxNode is what a node says beside the address.
type rpcxNode struct {
	Network  string `json:"network"`
	Metadata string `json:"metadata,omitempty"`
}

const (
	rpcxState    = "state"
	rpcxInactive = "inactive" // any other state means that the instance wants to be picked
	rpcxNoData   = "\x01"     // rpcx's store makes a node with that, and then writes the data
)

func (rpcx) Encode(i Instance) (string, []byte, error) {
	metadata := url.Values{}
	for key, value := range i.Metadata {
		if key != rpcxState || value != rpcxInactive {
			metadata.Set(key, value)
		}
	}
	if i.Disabled {
		metadata.Set(rpcxState, rpcxInactive)
	}
	if len(metadata) > maxLabels {
		return "", nil, invalid("metadata", len(metadata), "must be no more than 1000 labels, with the state")
	}
	i.Disabled = false // it is said
	network, err := networkOf(i)
	name := network + "@" + hostPort(i)
	if err := cmp.Or(checkPlain(i), err, checkID(name)); err != nil {
		return "", nil, err
	}
	return name, []byte(metadata.Encode()), nil
}

// networkOf returns the network that the payload of an instance has, if it has
// one.
func networkOf(i Instance) (string, error) {
	node := rpcxNode{Network: "tcp"}
	if len(i.Payload) > 0 && (!isJSON(i.Payload) || json.Unmarshal(i.Payload, &node) != nil) ||
		node.Network == "" || strings.Contains(node.Network, "@") {
		return "", invalid("payload", string(i.Payload), "must be an object with the network")
	}
	return node.Network, nil
}

func (rpcx) Decode(service, name string, data []byte) (i Instance, err error) {
	network, at, found := strings.Cut(name, "@")
	if !found {
		network, at = "tcp", name
	}
	if network == "" {
		return i, fmt.Errorf("no network@address:port: %s", excerpt(name))
	}
	if i, err = namedAt(service, name, at, data); err != nil {
		return i, err
	}
	text := string(data)
	if text == rpcxNoData {
		text = ""
	}
	if i.Metadata, err = readMetadata(text); err != nil {
		return Instance{}, err
	}
	i.Disabled = i.Metadata[rpcxState] == rpcxInactive
	i.Payload, err = marshal(rpcxNode{network, text})
	return i, err
}

// readMetadata reads metadata as rpcx does: those of which a part is malformed say
// nothing.
func readMetadata(text string) (map[string]string, error) {
	if strings.Count(text, "&") >= maxLabels {
		return nil, fmt.Errorf("more than %d metadata", maxLabels)
	}
	values, err := url.ParseQuery(text)
	if err != nil || len(values) == 0 {
		return nil, nil
	}
	labels := map[string]string{}
	for key, all := range values {
		labels[key] = all[0]
		if !utf8.ValidString(key + all[0]) {
			return nil, fmt.Errorf("metadata are not UTF-8: %s", excerpt(text))
		}
	}
	return labels, nil
}
