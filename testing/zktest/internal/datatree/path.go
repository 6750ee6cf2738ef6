package datatree

import (
	"strings"
)

// ParentOf returns the parent of a valid path: "/" for "/a", and "/" for "/".
func ParentOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

// baseOf returns the last element of a path.
func baseOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// ChildOf returns the path of a child of parent.
func ChildOf(parent, name string) string {
	if parent == "/" {
		return "/" + name
	}
	return parent + "/" + name
}

// ValidPath applies ZooKeeper's rules for a complete path.
func ValidPath(path string) bool {
	if path == "/" {
		return true
	}
	if path == "" || path[0] != '/' || path[len(path)-1] == '/' {
		return false
	}
	for part := range strings.SplitSeq(path[1:], "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsFunc(part, forbidden) {
			return false
		}
	}
	return true
}

// forbidden reports whether a path must not have this character. Java uses UTF-16, so every
// character beyond the basic plane is a pair of forbidden surrogates.
func forbidden(r rune) bool {
	return r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0
}

// HasNUL reports whether a path has a NUL. That is the first check of writes, and the only
// check of exists.
func HasNUL(path string) bool { return strings.IndexByte(path, 0) >= 0 }

// Reserved reports whether no client may delete the node.
func Reserved(path string) bool {
	switch path {
	case "/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config":
		return true
	}
	return false
}
