// Package printable makes untrusted text, such as paths and names of nodes, safe to
// show in errors, logs and traces.
package printable

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Is reports whether every character of s can be printed. Characters that begin
// a new line or run text backwards cannot.
func Is(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, unprintable) < 0
}

// String returns s unchanged if every character of it can be printed. Otherwise it
// returns s in quotes, with escapes for the other characters, which could begin a new
// line, run text backwards, or end a C string in the program that shows the text. A
// printable s is never quoted, so a quoted one stands out.
func String(s string) string {
	if Is(s) {
		return s
	}
	return strconv.Quote(s)
}

// JSON returns an encoded value with escapes for the characters of its strings
// that cannot be printed. Package encoding/json escapes control characters only.
func JSON(encoded []byte) []byte {
	if bytes.IndexFunc(encoded, hidden) < 0 {
		return encoded
	}
	escaped := make([]byte, 0, len(encoded)+64)
	for _, r := range string(encoded) {
		switch {
		case !hidden(r):
			escaped = utf8.AppendRune(escaped, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			escaped = fmt.Appendf(escaped, `\u%04x\u%04x`, high, low)
		default:
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		}
	}
	return escaped
}

// hidden reports whether a character of an encoded value cannot be printed. Characters
// up to the blank are white space between the values.
func hidden(r rune) bool { return r > ' ' && unprintable(r) }

func unprintable(r rune) bool { return !strconv.IsPrint(r) }
