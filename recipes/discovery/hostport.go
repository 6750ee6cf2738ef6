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
	i := Instance{Service: service, ID: name}
	if len(data) > maxData {
		return Instance{}, fmt.Errorf("%d bytes are more than %d", len(data), maxData)
	}
	if isJSON(data) {
		i.Payload = append(i.Payload, data...)
	}
	var err error
	i.Address, i.Port, err = splitHostPort(name)
	if err != nil {
		return Instance{}, err
	}
	return i, nil
}

// splitHostPort is the inverse of hostPort.
func splitHostPort(text string) (string, int, error) {
	host, port, err := net.SplitHostPort(text)
	n, bad := strconv.ParseUint(port, 10, 16)
	if err != nil || bad != nil || n == 0 || host == "" {
		return "", 0, fmt.Errorf("no address:port: %s", excerpt(text))
	}
	return host, int(n), nil
}
