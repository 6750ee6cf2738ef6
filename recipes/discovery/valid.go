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
	maxData    = 1 << 20 // the server's own limit, by default
	maxLabels  = 1000
	maxURISpec = 8 << 10
	maxURI     = 64 << 10
)

// checkID returns an error if an ID is no name of one node.
func checkID(id string) error {
	if strings.Contains(id, "/") {
		return invalid("id", id, "must not have a slash")
	}
	if err := framework.ValidatePath("/" + id); err != nil || id == "" {
		return invalid("id", id, "must be the name of a node")
	}
	return nil
}

// checkInstance returns an error for what no format can take.
func checkInstance(i Instance) error {
	for _, port := range []int{i.Port, i.TLSPort} {
		if port != 0 && !isPort(int64(port)) {
			return invalid("port", port, "must be from 1 to 65535")
		}
	}
	if strings.ContainsAny(i.Address, "[]") {
		return invalid("address", i.Address, "must have no brackets")
	}
	if len(i.Metadata) > maxLabels {
		return invalid("metadata", fmt.Sprintf("%d labels", len(i.Metadata)), fmt.Sprintf("must be no more than %d", maxLabels))
	}
	for _, text := range []string{i.Service, i.Address, string(i.URISpec)} {
		if !utf8.ValidString(text) {
			return invalid("instance", text, "must be UTF-8")
		}
	}
	for key, value := range i.Metadata {
		if !utf8.ValidString(key) || !utf8.ValidString(value) {
			return invalid("metadata", key+"="+value, "must be UTF-8")
		}
	}
	return nil
}

func isPort(n int64) bool { return n >= 1 && n <= 65535 }

// checkEndpoint returns an error for an instance of which one does not know
// where it listens.
func checkEndpoint(i Instance) error {
	switch {
	case i.Address == "":
		return invalid("address", i.Address, "must not be empty")
	case i.Port == 0:
		return invalid("port", i.Port, "must be from 1 to 65535")
	}
	return checkInstance(i)
}

// checkNoTLS is for formats without a second port.
func checkNoTLS(i Instance) error {
	if i.TLSPort != 0 {
		return invalid("TLS port", i.TLSPort, "the format has no place for it")
	}
	return nil
}

// checkEnabled is for formats whose readers know no instance that drains.
func checkEnabled(i Instance) error {
	if i.Disabled {
		return invalid("disabled instance", i.ID, "the format cannot tell its readers")
	}
	return nil
}
