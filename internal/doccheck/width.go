package doccheck

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// widest is how many columns a line of a document may have.
const widest = 80

// Narrow checks that no line of a document is wider than 80 columns. A row of a
// table, a line of a block, and one that is a single word, such as a link, may be.
func Narrow(document string) error {
	var problems []error
	number, inBlock := 0, false
	for line := range strings.Lines(document) {
		line = strings.TrimSuffix(line, "\n")
		number++
		if strings.HasPrefix(line, "```") {
			inBlock = !inBlock
		}
		if width := utf8.RuneCountInString(line); width > widest && !inBlock && !mayBeWide(line) {
			problems = append(problems, fmt.Errorf("line %d has %d columns: %s", number, width, line))
		}
	}
	return errors.Join(problems...)
}

func mayBeWide(line string) bool {
	return strings.HasPrefix(line, "|") || strings.HasPrefix(line, "    ") ||
		!strings.Contains(strings.TrimLeft(line, " -"), " ")
}
