// Package token has the text form of a fencing token, and the context key by which
// package fence finds a lease.
package token

import (
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Key is the key of a context's innermost lease. The value is a fence.Lease.
type Key struct{}

// Text returns a token and the path of its holder's node as one line of ASCII. The line
// has no comma, because proxies join headers with commas.
func Text(number int64, owner string) string {
	return strconv.FormatInt(number, 10) + " " + strings.ReplaceAll((&url.URL{Path: owner}).EscapedPath(), ",", "%2C")
}

// Parse returns the arguments of Text. Other programs may escape more characters than
// Text does.
func Parse(text string) (number int64, owner string, err error) {
	digits, escaped, _ := strings.Cut(text, " ")
	number, err = strconv.ParseInt(digits, 10, 64)
	if err == nil {
		owner, err = url.PathUnescape(escaped)
	}
	if err != nil || number <= 0 || strconv.FormatInt(number, 10) != digits ||
		strings.ContainsFunc(escaped, mustBeEscaped) || !isNode(owner) {
		return 0, "", fmt.Errorf("%q is not a positive number, a space, and the escaped path of a node", text)
	}
	return number, owner, nil
}

func mustBeEscaped(r rune) bool { return r <= ' ' || r == ',' || r > '~' }

// isNode reports whether a text is the path of a node, with a name that is safe in logs,
// headers and databases.
func isNode(name string) bool {
	return path.IsAbs(name) && path.Clean(name) == name && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, unicode.IsControl)
}
