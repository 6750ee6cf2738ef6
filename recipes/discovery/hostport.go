package discovery

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
)

// HostPortCodec is the format of many programs: the name of the node is
// address:port, with brackets around an IPv6 address, whatever the instance's
// ID. Payload is the data of the node, if they are JSON. Other data are left
// alone, and metadata are left out.
func HostPortCodec() Codec { return hostPortCodec{} }

type hostPortCodec struct{ plainTree }

func (hostPortCodec) Encode(i Instance) (string, []byte, error) {
	name := hostPort(i)
	if err := cmp.Or(checkPlain(i), checkID(name)); err != nil {
		return "", nil, err
	}
	if len(i.Payload) > 0 && !isJSON(i.Payload) {
		return "", nil, invalid("payload", string(i.Payload), "must be JSON")
	}
	return name, i.Payload, nil
}

func (hostPortCodec) Decode(service, name string, data []byte) (Instance, error) {
	i, err := namedAt(service, name, name, data)
	if err == nil && isJSON(data) {
		i.Payload = append(i.Payload, data...)
	}
	return i, err
}

// namedAt returns the instance of a node whose name has its address and port: at is
// the part that hostPort has made. The data must not be too long.
func namedAt(service, name, at string, data []byte) (Instance, error) {
	if len(data) > maxData {
		return Instance{}, fmt.Errorf("%d bytes are more than %d", len(data), maxData)
	}
	host, port, err := net.SplitHostPort(at)
	n, bad := strconv.ParseUint(port, 10, 16)
	if err != nil || bad != nil || n == 0 || host == "" {
		return Instance{}, fmt.Errorf("no address:port: %s", excerpt(at))
	}
	return Instance{Service: service, ID: name, Address: host, Port: int(n)}, nil
}
