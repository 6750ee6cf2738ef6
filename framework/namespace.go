package framework

import "strings"

// Namespace returns a view of the client that puts path before every path: in
// client.Namespace("/shop"), "/stock" is the node that the client itself calls
// "/shop/stock". Paths that the view returns, in errors, events and Created,
// are the view's own. The path is absolute, like every other; namespaces of
// namespaces add up, and "/" is one too. A path that cannot be used is an
// *OpError that matches zk.ErrInvalidPath.
//
// A view costs nothing and need not be closed. All views are one client: they
// share the session, the states, watches on the same node, and everything else,
// and closing any of them closes all. The namespace's own nodes are created
// with the first node in it; see Create.
func (c *Client) Namespace(path string) (*Client, error) {
	if err := validatePath(path); err != nil {
		return nil, &OpError{"namespace", path, err}
	}
	if path == "/" {
		return c, nil
	}
	return &Client{core: c.core, chroot: c.full(path)}, nil
}

// full returns the server's name for a path of the client's.
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

// local is the reverse of full. It takes the prefix away once, even if the path
// goes on with the same names (CURATOR-666).
func (c *Client) local(path string) string {
	if path = strings.TrimPrefix(path, c.chroot); path == "" {
		return "/"
	}
	return path
}
