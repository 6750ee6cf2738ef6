// Package znode joins and splits the paths of nodes, and makes unique names. It does
// not check paths.
package znode

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// GUID returns a UUID of version 4 in lower case with dashes, the form that
// Curator recognises (ProtectedUtils).
func GUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	text := hex.AppendEncode(make([]byte, 0, 2*len(b)+4), b[:4])
	for _, part := range [][]byte{b[4:6], b[6:8], b[8:10], b[10:]} {
		text = hex.AppendEncode(append(text, '-'), part)
	}
	return string(text)
}

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
