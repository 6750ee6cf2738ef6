package columns

import (
	"unicode"

	"golang.org/x/text/width"
)

// Width returns how many columns of a terminal a printable text takes: two for
// each character of the East Asian scripts, and none for one that combines with
// the character before it.
func Width(text string) (n int) {
	for _, r := range text {
		n += widthOf(r)
	}
	return n
}

func widthOf(r rune) int {
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

// Cut returns as much of a text as fits into some columns.
func Cut(text string, columns int) string {
	for i, r := range text {
		if columns -= widthOf(r); columns < 0 {
			return text[:i]
		}
	}
	return text
}

// Shorten returns a text that fits into some columns. One that was cut ends with
// an ellipsis.
func Shorten(text string, columns int) string {
	if Width(text) <= columns {
		return text
	}
	return Cut(text, columns-1) + "…"
}
