package grpcresolver

import (
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/gocurator/curator/recipes/discovery"
)

// addressOf returns the address at which to dial an instance, and false if the instance
// has no such address.
func (t target) addressOf(e *discovery.Entry) (string, bool) {
	host, port := t.hostPort(e)
	host, usable := hostOf(host)
	if port < 1 || port > 65535 || !usable {
		return "", false
	}
	return net.JoinHostPort(host, strconv.Itoa(port)), true
}

func (t target) hostPort(e *discovery.Entry) (string, int) {
	switch t.port {
	case "":
		return e.Address, e.Port
	case tlsPort:
		return e.Address, e.TLSPort
	}
	if label, ok := e.Metadata[t.port]; ok {
		port, err := strconv.Atoi(label)
		if err != nil {
			port = 0
		}
		return e.Address, port
	}
	return additional(e, t.port)
}

// additional returns a named endpoint of a serverset. A malformed endpoint does not affect the
// other endpoints. As the codec does, additional accepts a port in quotes and a host in
// brackets.
func additional(e *discovery.Entry, name string) (string, int) {
	var payload struct{ AdditionalEndpoints map[string]json.RawMessage }
	if json.Unmarshal(e.Payload, &payload) != nil {
		return "", 0
	}
	var at struct {
		Host string
		Port json.Number
	}
	if json.Unmarshal(payload.AdditionalEndpoints[name], &at) != nil {
		return "", 0
	}
	port, err := strconv.Atoi(at.Port.String())
	if err != nil {
		return "", 0
	}
	return strings.Trim(at.Host, "[]"), port
}

func (t target) portName() string {
	switch t.port {
	case "":
		return "port"
	case tlsPort:
		return "TLS port"
	}
	return fmt.Sprintf("port %q", t.port)
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_.-]*)$`)

// hostOf returns the host in an untrusted text, and false if the text is neither a host
// name nor an IP address. IPv6 addresses are normalized, because the same address can
// be written in many ways and with any zone. The check is strict because gRPC would
// take unix:50051 for the path of a socket.
func hostOf(text string) (string, bool) {
	if ip, err := netip.ParseAddr(text); err == nil {
		return ip.String(), ip.Zone() == "" || hostName.MatchString(ip.Zone())
	}
	return text, hostName.MatchString(text) && text != "unix"
}
