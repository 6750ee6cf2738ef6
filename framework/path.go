package framework

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-zookeeper/zk"
)

// ValidatePath returns an error that matches zk.ErrInvalidPath and says what is
// wrong, if path is not the absolute path of a znode. The rules are the
// server's (PathUtils.validatePath).
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
