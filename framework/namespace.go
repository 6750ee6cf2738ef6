package framework

import "strings"

// Namespace returns a view of the client that puts path before every path: in
// client.Namespace("/shop"), "/stock" is the node that the client itself calls
// "/shop/stock". Paths that the view returns, in errors, events and Created,
// are the view's own. "shop" is the same namespace as "/shop", because Java
// Curator's are written so; namespaces of namespaces add up, and "/" is one too.
// A path that cannot be used, such as "", which a variable has that was not set,
// is an *OpError that matches zk.ErrInvalidPath.
//
// A view costs nothing and need not be closed. All views are one client: they
// share the session, the states, watches on the same node, and everything else,
// and closing any of them closes all. The namespace's own nodes are created
// with the first node in it; see Create.
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
