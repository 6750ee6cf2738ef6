// Package terminal tells whether a file is a terminal, and how wide it is.
package terminal

import "os"

// Is reports whether v is an *os.File that is a terminal.
func Is(v any) bool {
	f, ok := v.(*os.File)
	return ok && f != nil && isTerminal(f)
}

// Width returns the number of columns of a terminal, or 80 if v is not a terminal or
// its width is unknown.
func Width(v any) int {
	if f, ok := v.(*os.File); ok && f != nil {
		if n := width(f); n > 0 {
			return n
		}
	}
	return 80
}
