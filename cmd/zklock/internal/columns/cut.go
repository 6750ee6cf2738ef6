package columns

import "github.com/gocurator/curator/internal/textwidth"

// Cut returns the beginning of a text that fits into a number of columns.
func Cut(text string, columns int) string {
	for i, r := range text {
		if columns -= textwidth.OfRune(r); columns < 0 {
			return text[:i]
		}
	}
	return text
}

// Shorten returns a text that fits into a number of columns. A shortened text ends with
// an ellipsis.
func Shorten(text string, columns int) string {
	if textwidth.Of(text) <= columns {
		return text
	}
	return Cut(text, columns-1) + "…"
}
