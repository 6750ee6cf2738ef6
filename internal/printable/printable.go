// Package printable makes text from others, such as paths and names of nodes,
// safe to show in errors, logs and traces.
package printable

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Is reports whether every character of s can be printed. Characters that begin
// a new line or run text backwards cannot.
func Is(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, unprintable) < 0
}

// String returns s unchanged if every character of it can be printed. Otherwise
// it returns s in quotes, with escapes for the other characters: those could
// begin a new line, run text backwards, or end a C string in the program that
// shows them. A printable s is never quoted, so that a quoted one stands out.
func String(s string) string {
	if Is(s) {
		return s
	}
	return strconv.Quote(s)
}

func unprintable(r rune) bool { return !strconv.IsPrint(r) }
