package discovery

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gocurator/curator/framework"
)

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
