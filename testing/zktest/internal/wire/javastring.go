package wire

import (
	"strings"
	"unicode/utf8"
)

// javaString decodes UTF-8 as Java does: each sequence of bytes that is no
// character, as far as it could have become one, turns into U+FFFD. Go would
// make one U+FFFD of each byte.
func javaString(p []byte) string {
	if utf8.Valid(p) {
		return string(p)
	}
	var b strings.Builder
	for len(p) > 0 {
		r, size := utf8.DecodeRune(p)
		if r == utf8.RuneError && size == 1 {
			size = brokenRune(p)
		}
		b.WriteRune(r)
		p = p[size:]
	}
	return b.String()
}

// brokenRune returns how many bytes Java takes for one character that is
// broken. p begins with such a character.
func brokenRune(p []byte) int {
	const surrogateLead, continuation = 0xed, 0x80
	continues := func(i int) bool { return i < len(p) && p[i]&0xc0 == continuation }
	if p[0] == surrogateLead && continues(1) { // Go sees at once that it is half a pair
		if continues(2) {
			return 3
		}
		return 2
	}
	size := 1
	for size < len(p) && !utf8.FullRune(p[:size+1]) {
		size++
	}
	return size
}
