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

// forbidden reports the characters no path may have. Java counts in UTF-16, so
// that everything beyond the basic plane is a forbidden surrogate to it.
func forbidden(r rune) bool {
	return r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0
}

// HasNUL is the first check that writes make, and the only one of exists.
func HasNUL(path string) bool { return strings.IndexByte(path, 0) >= 0 }

// Reserved reports the nodes that no client may delete.
func Reserved(path string) bool {
	switch path {
	case "/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config":
		return true
	}
	return false
}
