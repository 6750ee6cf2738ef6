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

// theirs is the format of the registries of hertz and Kitex on ZooKeeper. The tree is
// the same as Curator's: instances are right below the name of their service.
var theirs = codec{discovery.CuratorCodec()}

// codec uses the unchanged data of a node as the payload of an instance. The ID of an
// instance, which is the name of its node, is the address.
type codec struct{ discovery.Codec }

// said is the content of a node. Like encoding/json, readers ignore the case of the
// field names.
type said struct {
	Weight int
	Tags   map[string]string
}

func (codec) Encode(i discovery.Instance) (string, []byte, error) { return i.ID, i.Payload, nil }

func (codec) Decode(service, name string, data []byte) (i discovery.Instance, err error) {
	if len(data) == 0 {
		return i, fmt.Errorf("%w: the node has no data", discovery.ErrNotInstance)
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

// dataOf returns the data of an instance's node: like the other registries, without
// escapes for <, > and &.
func dataOf(info *registry.Info) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(said{info.Weight, info.Tags}) // said can always be encoded
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// weightOf returns the weight of an instance, or 0, which hertz replaces by 10.
func weightOf(i discovery.Instance) int {
	var node said
	if json.Unmarshal(i.Payload, &node) != nil {
		return 0
	}
	return min(node.Weight, maxWeight)
}
