package snapshot

import (
	"bytes"
	"strings"

	"github.com/gocurator/curator/internal/textwidth"
)

// columnGap is between two columns.
const columnGap = 2

// aligned returns lines with their cells below each other. A tab ends a cell.
// Lines with a cell at the same place that follow each other have a column there,
// as with text/tabwriter, which takes each character for one column of a terminal.
func aligned(lines []string) []byte {
	rows := make([][]string, len(lines))
	for i, line := range lines {
		rows[i] = strings.Split(line, "\t")
	}
	align(rows, 0)
	var b bytes.Buffer
	for _, row := range rows {
		b.WriteString(strings.Join(row, ""))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// align pads the cells of one column, and of those behind it.
func align(rows [][]string, column int) {
	for len(rows) > 0 {
		n, widest := 0, 0
		for n < len(rows) && len(rows[n]) > column+1 {
			widest = max(widest, textwidth.Of(rows[n][column]))
			n++
		}
		if n == 0 {
			rows = rows[1:]
			continue
		}
		for _, row := range rows[:n] {
			row[column] += strings.Repeat(" ", widest+columnGap-textwidth.Of(row[column]))
		}
		align(rows[:n], column+1)
		rows = rows[n:]
	}
}
