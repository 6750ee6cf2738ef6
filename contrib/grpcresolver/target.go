package grpcresolver

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"google.golang.org/grpc/resolver"
)

// target is the parsed target of a channel.
type target struct {
	client        string // the name of a registered client; empty for the default
	base, service string
	codec         string
	port          string // empty, tlsPort, or the name of a port
	zone          string
}

// tlsPort is the name of discovery.Instance.TLSPort.
const tlsPort = "ssl"

// parse reads a target such as zookeeper:///services/orders?port=ssl. The last element
// of the path is the service. In an element, %2F stands for a slash.
func parse(from resolver.Target) (t target, err error) {
	u := from.URL
	if u.Opaque != "" || u.User != nil || u.Fragment != "" || u.Path == "" {
		return t, fmt.Errorf("the form must be %s:///base/service", scheme)
	}
	var names []string
	for _, escaped := range strings.Split(strings.TrimPrefix(u.EscapedPath(), "/"), "/") {
		name, err := url.PathUnescape(escaped)
		if err != nil {
			return t, err
		}
		if name == "" {
			return t, fmt.Errorf("the path %q has an empty element", u.Path)
		}
		names = append(names, name)
	}
	last := len(names) - 1
	t = target{client: u.Host, base: "/" + strings.Join(names[:last], "/"), service: names[last], codec: defaultCodec}
	return t, t.parseQuery(u.RawQuery)
}

func (t *target) parseQuery(raw string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return err
	}
	fields := map[string]*string{"codec": &t.codec, "port": &t.port, "zone": &t.zone}
	for key, values := range query {
		if fields[key] == nil || len(values) != 1 || values[0] == "" {
			return fmt.Errorf("parameter %q: only codec, port and zone are allowed, each once and with a value", key)
		}
		*fields[key] = values[0]
	}
	return nil
}

// authority is the name that servers see and TLS verifies: the service's name, or the
// last part of a name with slashes.
func (t target) authority() string {
	parts := slices.DeleteFunc(strings.Split(t.service, "/"), func(part string) bool { return part == "" })
	if len(parts) == 0 {
		return ""
	}
	return url.PathEscape(parts[len(parts)-1])
}
