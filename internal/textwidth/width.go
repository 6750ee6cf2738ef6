// Package textwidth tells how many columns of a terminal a text takes. Tables with
// untrusted names use it.
package textwidth

import (
	"unicode"

	"golang.org/x/text/width"
)

// Of returns how many columns of a terminal a printable text takes: two for
// each character of the East Asian scripts, and none for one that combines with
// the character before it.
func Of(text string) (n int) {
	for _, r := range text {
		n += OfRune(r)
	}
	return n
}

// OfRune returns how many columns a character takes.
func OfRune(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
