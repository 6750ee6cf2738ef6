package framework

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-zookeeper/zk"
)

// ValidatePath returns an error that matches zk.ErrInvalidPath and names the problem,
// if path is not the absolute path of a znode. The rules are the server's
// (PathUtils.validatePath).
func ValidatePath(path string) error {
	return validatePath(path)
}

func validatePath(path string) error {
	if reason := pathFault(path); reason != "" {
		return fmt.Errorf("%w: %s", zk.ErrInvalidPath, reason)
	}
	return nil
}

func pathFault(path string) string {
	switch {
	case path == "":
		return "empty"
	case path[0] != '/':
		return "must start with /"
	case path == "/":
		return ""
	case path[len(path)-1] == '/':
		return "must not end with /"
	case !utf8.ValidString(path):
		return "not UTF-8"
	}
	for part := range strings.SplitSeq(path[1:], "/") {
		switch part {
		case "":
			return "empty part"
		case ".", "..":
			return "relative part " + part
		}
	}
	if i := strings.IndexFunc(path, forbiddenInPath); i >= 0 {
		r, _ := utf8.DecodeRuneInString(path[i:])
		return fmt.Sprintf("character %U", r)
	}
	return ""
}

// forbiddenInPath includes everything beyond the basic plane: the server counts
// in UTF-16, where such characters are surrogates.
func forbiddenInPath(r rune) bool {
	return r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0
}

// Namespace returns a view of the client that puts path before every path: in
// client.Namespace("/shop"), "/stock" is the node that the client itself calls
// "/shop/stock". Paths in the view's errors, events and Created are relative to the
// view. As in Java Curator, "shop" is the same namespace as "/shop". Namespaces of
// namespaces add up, and "/" is a namespace, too. For an invalid path, such as "" from
// an unset variable, the error is an *OpError that matches zk.ErrInvalidPath.
//
// A view costs nothing and need not be closed. All views are one client: they share the
// session, the states and the watches, and closing any view closes all. The first
// create in the namespace also creates the namespace's own nodes; see Create.
func (c *Client) Namespace(path string) (*Client, error) {
	absolute := path
	if path != "" && path[0] != '/' {
		absolute = "/" + path
	}
	if err := validatePath(absolute); err != nil {
		return nil, &OpError{"namespace", path, err}
	}
	if absolute == "/" {
		return c, nil
	}
	return &Client{core: c.core, chroot: c.full(absolute)}, nil
}

// full returns the server's path for a path of this view.
func (c *Client) full(path string) string {
	switch {
	case c.chroot == "":
		return path
	case path == "/":
		return c.chroot
	default:
		return c.chroot + path
	}
}

// local reverses full. It removes the prefix only once, even if the path continues with
// the same names (CURATOR-666).
func (c *Client) local(path string) string {
	if path = strings.TrimPrefix(path, c.chroot); path == "" {
		return "/"
	}
	return path
}
