package discovery

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
)

// Codec is the format of a registry: where the nodes of a service are, and what
// they contain. Codecs are safe for concurrent use, and hold no state.
type Codec interface {
	// Dir returns the path of a service's nodes below the base of the registry,
	// with a leading slash. The instances are the children of that path.
	Dir(service string) (string, error)

	// Service is the inverse of Dir: it returns the service whose nodes are
	// below a path. It reports false if that is no service's.
	Service(dir string) (string, bool)

	// Encode returns the name and the data of an instance's node. It returns an
	// error if the format, or one of its readers, cannot take the instance.
	Encode(i Instance) (name string, data []byte, err error)

	// Decode returns the instance that a node describes. The ID is name, whatever
	// the data say. An error means that the node is malformed.
	Decode(service, name string, data []byte) (Instance, error)
}

// plainTree has the instances of a service right below the name of the service.
type plainTree struct{}

func (plainTree) Dir(service string) (string, error) {
	dir := "/" + strings.TrimPrefix(service, "/")
	err := framework.ValidatePath(dir)
	if dir == "/" {
		err = framework.ValidatePath("")
	}
	if err != nil {
		return "", fmt.Errorf("service %s: %w", excerpt(service), err)
	}
	return dir, nil
}

func (plainTree) Service(dir string) (string, bool) {
	service, ok := strings.CutPrefix(dir, "/")
	return service, ok && service != ""
}

// These limits are far above what real instances have. They keep a node of a
// stranger from taking much more memory than it takes at the server.
const (
	maxData   = 1 << 20 // the server's own limit, by default
	maxLabels = 1000
)

// checkID returns an error if an ID is no name of one node.
func checkID(id string) error {
	if id == "" || strings.Contains(id, "/") || framework.ValidatePath("/"+id) != nil {
		return invalid("id", id, "must be the name of one node")
	}
	return nil
}

// checkInstance returns an error for what no format can take.
func checkInstance(i Instance) error {
	switch {
	case i.Port < 0 || i.Port > 65535:
		return invalid("port", i.Port, "must be from 1 to 65535")
	case i.TLSPort < 0 || i.TLSPort > 65535:
		return invalid("TLS port", i.TLSPort, "must be from 1 to 65535")
	case strings.ContainsAny(i.Address, "[]"):
		return invalid("address", i.Address, "must have no brackets")
	case len(i.Metadata) > maxLabels:
		return invalid("metadata", len(i.Metadata), "must be no more than 1000 labels")
	case !utf8.ValidString(fmt.Sprint(i.Service, i.Address, i.Metadata)):
		return invalid("instance", i.ID, "must be UTF-8")
	}
	return nil
}

// checkEndpoint is for formats that need an address and a port.
func checkEndpoint(i Instance) error {
	switch {
	case i.Address == "":
		return invalid("address", i.Address, "must not be empty")
	case i.Port == 0:
		return invalid("port", i.Port, "must be from 1 to 65535")
	}
	return checkInstance(i)
}

// checkPlain is for formats that have an address and a port, and cannot tell
// their readers of TLS, nor of an instance that drains.
func checkPlain(i Instance) error {
	switch {
	case i.TLSPort != 0:
		return invalid("TLS port", i.TLSPort, "the format has no place for it")
	case i.Disabled:
		return invalid("disabled instance", i.ID, "the format has no place for that")
	}
	return checkEndpoint(i)
}

// applyAll applies options, none of which may be nil.
func applyAll[T any, O ~func(*T)](to *T, opts []O) error {
	for _, apply := range opts {
		if apply == nil {
			return invalid("option", "nil", "must not be nil")
		}
		apply(to)
	}
	return nil
}

// Match these errors with errors.Is. A value that cannot be used is a
// *framework.ConfigError and matches zk.ErrBadArguments. The name of a service
// that makes no path matches zk.ErrInvalidPath.
var (
	// ErrNotInstance means that a node is no instance, and need not be one: it
	// has no data, as a parent has, or the format gives the instances other
	// names. Codec.Decode returns it.
	ErrNotInstance = errors.New("node is no instance")

	// ErrNoInstance means that a Picker has no instance to pick.
	ErrNoInstance = errors.New("no instance to pick")
)

// invalid returns the error of a value that cannot be used.
func invalid(name string, value any, reason string) error {
	return &framework.ConfigError{Name: name, Value: short(fmt.Sprint(value)), Reason: reason}
}

// excerpt returns the beginning of a stranger's text, safe to show.
func excerpt[T ~string | ~[]byte](text T) string { return printable.String(short(string(text))) }

func short(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return text[:most] + "..."
}
