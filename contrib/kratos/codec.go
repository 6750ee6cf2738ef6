package kratos

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-kratos/kratos/v2/registry"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

// theirs is the format of kratos's registry on ZooKeeper. The tree is the same as
// Curator's: instances are right below the name of their service.
var theirs = codec{discovery.CuratorCodec()}

// codec uses the unchanged data of a node as the payload of an instance. The other
// fields are for the log and the debug page.
type codec struct{ discovery.Codec }

func (codec) Encode(i discovery.Instance) (string, []byte, error) {
	if i.Disabled {
		return "", nil, invalid("instance that drains", i.ID, "kratos has no place for that")
	}
	return i.ID, i.Payload, nil
}

// Like kratos's watcher, Decode refuses data with a different service name: kratos's
// clients make TLS verify the name in the data.
func (codec) Decode(service, name string, data []byte) (discovery.Instance, error) {
	if len(data) == 0 {
		return discovery.Instance{}, fmt.Errorf("%w: the node has no data", discovery.ErrNotInstance)
	}
	said, err := parse(data)
	if err == nil && said.Name != service {
		err = fmt.Errorf("the data belong to the service %.60q", said.Name)
	}
	if err != nil {
		return discovery.Instance{}, err
	}
	i := discovery.Instance{Service: service, ID: name, Metadata: said.Metadata, Payload: data}
	i.Address, i.Port = address(said.Endpoints)
	return i, nil
}

// parse decodes the data of a node.
func parse(data []byte) (*registry.ServiceInstance, error) {
	var said *registry.ServiceInstance
	err := json.Unmarshal(data, &said)
	if err == nil && said == nil {
		err = errors.New("the JSON is null")
	}
	return said, err
}

// address returns host and port of the first endpoint that has a host.
func address(endpoints []string) (host string, port int) {
	for _, endpoint := range endpoints {
		if u, err := url.Parse(endpoint); err == nil && u.Hostname() != "" {
			port, _ = strconv.Atoi(u.Port())
			return u.Hostname(), port
		}
	}
	return "", 0
}

// instanceOf returns the instance to register for a service instance of kratos.
func instanceOf(of *registry.ServiceInstance) (discovery.Instance, error) {
	if of == nil {
		return discovery.Instance{}, invalid("instance", "nil", "must not be nil")
	}
	if of.ID == "" || strings.Contains(of.ID, "/") || framework.ValidatePath("/"+of.ID) != nil {
		return discovery.Instance{}, invalid("ID of an instance", of.ID, "must be the name of one node")
	}
	data, err := json.Marshal(of)
	if err != nil {
		return discovery.Instance{}, err
	}
	return theirs.Decode(of.Name, of.ID, data)
}

// invalid returns the error of a value that cannot be used.
func invalid(name, value, reason string) error {
	return &framework.ConfigError{Name: name, Value: value, Reason: reason}
}
