package discovery

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
)

// Codec is the format of a registry: the paths of the nodes, and their data. A Codec is
// safe for concurrent use, and has no state.
type Codec interface {
	// Dir returns the path of a service's nodes below the base of the registry,
	// with a leading slash. The instances are the children of that path.
	Dir(service string) (string, error)

	// Service is the inverse of Dir: it returns the service whose nodes are below a
	// path, or false if the path belongs to no service.
	Service(dir string) (string, bool)

	// Encode returns the name and the data of an instance's node. It returns an error if
	// the format, or one of the format's readers, does not support the instance.
	Encode(i Instance) (name string, data []byte, err error)

	// Decode returns the instance that a node describes. Its ID is name, whatever the
	// data contain. An error means that the node is malformed.
	Decode(service, name string, data []byte) (Instance, error)
}

// plainTree has the instances of a service directly below the name of the service.
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

// These limits are far above what real instances need. With them, a foreign node takes
// little more memory in the client than at the server.
const (
	maxData   = 1 << 20 // the server's default limit
	maxLabels = 1000
)

// checkID returns an error if an ID cannot be the name of a node.
func checkID(id string) error {
	if id == "" || strings.Contains(id, "/") || framework.ValidatePath("/"+id) != nil {
		return invalid("id", id, "must be the name of one node")
	}
	return nil
}

// checkInstance returns an error for an instance that no format supports.
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

// checkPlain is for formats that have an address and a port, but neither a TLS port nor a
// mark for drained instances.
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

// Match these errors with errors.Is. The error of an invalid value is a
// *framework.ConfigError and matches zk.ErrBadArguments. The error of a service name
// that makes no valid path matches zk.ErrInvalidPath.
var (
	// ErrNotInstance means that a node is not meant to be an instance: the node has no
	// data, as a folder has, or the format gives its instances other names.
	// Codec.Decode returns it.
	ErrNotInstance = errors.New("node is no instance")

	// ErrNoInstance means that a Picker has no instance to pick.
	ErrNoInstance = errors.New("no instance to pick")
)

// invalid returns the error of an invalid value.
func invalid(name string, value any, reason string) error {
	return &framework.ConfigError{Name: name, Value: short(fmt.Sprint(value)), Reason: reason}
}

// excerpt returns the beginning of foreign text, safe to print.
func excerpt[T ~string | ~[]byte](text T) string { return printable.String(short(string(text))) }

func short(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return text[:most] + "..."
}
