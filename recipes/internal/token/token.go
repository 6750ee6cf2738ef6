// Package token has the text of a fencing token, and the key by which package fence
// finds the lease that a context is under.
package token

import (
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Key is the key of a context's innermost lease. The value is a fence.Lease.
type Key struct{}

// Text returns a token and the path of its holder's node as one line of ASCII.
func Text(number int64, owner string) string {
	return strconv.FormatInt(number, 10) + " " + (&url.URL{Path: owner}).EscapedPath()
}

// Parse returns what Text was called with.
func Parse(text string) (number int64, owner string, err error) {
	digits, escaped, _ := strings.Cut(text, " ")
	number, err = strconv.ParseInt(digits, 10, 64)
	if err == nil {
		owner, err = url.PathUnescape(escaped)
	}
	if err != nil || number <= 0 || !path.IsAbs(owner) || path.Clean(owner) != owner || !utf8.ValidString(owner) {
		return 0, "", fmt.Errorf("%q is not a positive number, a space, and the escaped path of a node", text)
	}
	return number, owner, nil
}
