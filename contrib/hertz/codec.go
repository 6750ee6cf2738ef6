package hertz

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"strconv"

	"github.com/cloudwego/hertz/pkg/app/server/registry"

	"github.com/gocurator/curator/recipes/discovery"
)

// theirs is the format of the registries of hertz and Kitex on ZooKeeper. Its tree is
// Curator's: the instances of a service are right below its name.
var theirs = codec{discovery.CuratorCodec()}

// codec takes the data of a node as they are for the payload of an instance. The ID,
// which is the name of the node, is its address.
type codec struct{ discovery.Codec }

// said is what a node says. Readers take its names in any case of letters, as
// encoding/json does.
type said struct {
	Weight int
	Tags   map[string]string
}

func (codec) Encode(i discovery.Instance) (string, []byte, error) { return i.ID, i.Payload, nil }

func (codec) Decode(service, name string, data []byte) (i discovery.Instance, err error) {
	if len(data) == 0 {
		return i, fmt.Errorf("%w: it has no data", discovery.ErrNotInstance)
	}
	host, text, err := net.SplitHostPort(name)
	port, bad := strconv.ParseUint(text, 10, 16)
	if err != nil || bad != nil || port == 0 || host == "" {
		return i, fmt.Errorf("no address:port: %.60q", name)
	}
	var node said
	if json.Unmarshal(data, &node) != nil {
		return i, fmt.Errorf("no weight and tags: %.60q", data)
	}
	return discovery.Instance{
		Service: service, ID: name, Address: host, Port: int(port), Metadata: node.Tags, Payload: data,
	}, nil
}

// dataOf returns what a node says of an instance: as theirs, without escapes for <, >
// and &.
func dataOf(info *registry.Info) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(said{info.Weight, info.Tags}) // it is JSON in any case
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// weightOf returns the weight of an instance, or 0, which hertz takes for 10.
func weightOf(i discovery.Instance) int {
	var node said
	if json.Unmarshal(i.Payload, &node) != nil {
		return 0
	}
	return min(node.Weight, maxWeight)
}
