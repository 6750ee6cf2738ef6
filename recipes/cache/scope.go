package cache

import "strings"

// scope says which nodes belong to a cache.
type scope struct {
	root   string
	depth  int
	filter func(path string) bool // never nil
}

// depthOf returns how many levels a path is below the root, or false if it is
// not below it.
func (s scope) depthOf(path string) (int, bool) {
	if path == s.root {
		return 0, true
	}
	rest, below := strings.CutPrefix(path, strings.TrimSuffix(s.root, "/")+"/")
	if !below || rest == "" {
		return 0, false
	}
	return strings.Count(rest, "/") + 1, true
}

// has reports whether a path belongs to the cache: it is not too deep, and the
// filter keeps it and all above it.
func (s scope) has(path string) bool {
	depth, ok := s.depthOf(path)
	if !ok || depth > s.depth {
		return false
	}
	for path != s.root {
		if !s.filter(path) {
			return false
		}
		path = parentOf(path)
	}
	return true
}

// hasChildren reports whether the children of a path may belong to the cache.
func (s scope) hasChildren(path string) bool {
	depth, ok := s.depthOf(path)
	return ok && depth < s.depth
}

func parentOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

func childOf(parent, name string) string {
	return strings.TrimSuffix(parent, "/") + "/" + name
}
