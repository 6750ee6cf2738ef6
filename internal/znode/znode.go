// Package znode joins and splits the paths of nodes. It does not check them.
package znode

import "strings"

// Join returns the path of a parent's child.
func Join(parent, name string) string {
	if parent == "/" {
		return "/" + name
	}
	return parent + "/" + name
}

// Split returns a node's parent and its name. The path must not be the root.
func Split(path string) (parent, name string) {
	i := strings.LastIndexByte(path, '/')
	if i == 0 {
		return "/", path[1:]
	}
	return path[:i], path[i+1:]
}
