package wire

import (
	"strings"
	"unicode/utf8"
)

// javaString decodes UTF-8 like Java. Java replaces each incomplete beginning of a character by
// one U+FFFD, and Go would replace each of its bytes.
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

// brokenRune returns how many bytes Java replaces by one U+FFFD. The argument begins with a
// broken character.
func brokenRune(p []byte) int {
	const surrogateLead, continuation = 0xed, 0x80
	continues := func(i int) bool { return i < len(p) && p[i]&0xc0 == continuation }
	if p[0] == surrogateLead && continues(1) { // unlike Java, Go rejects a surrogate at its second byte
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
