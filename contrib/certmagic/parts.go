package certmagic

import (
	"net/url"
	"strings"
)

// parts are the components of a key.
type parts []string

func partsOf(key string) parts {
	return strings.FieldsFunc(key, func(r rune) bool { return r == '/' })
}

func (p parts) String() string { return strings.Join(p, "/") }

// below returns the key with one more component.
func (p parts) below(component string) parts { return append(p[:len(p):len(p)], component) }

// pathOf returns the path of a key's node.
func (s *Storage) pathOf(at parts) string {
	p := s.folder("keys")
	for _, component := range at {
		p += "/" + escape(component)
	}
	return p
}

// escape returns a node's name for a component of a key, or for the name of a lock,
// which may be empty.
func escape(s string) string {
	switch s {
	case "":
		return "%"
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	return url.PathEscape(s)
}

// unescape reverses escape for components. For a name that escape never returns, ok is
// false.
func unescape(name string) (component string, ok bool) {
	component, err := url.PathUnescape(name)
	return component, err == nil && escape(component) == name
}
