package columns

import (
	"bufio"
	"io"
	"strings"

	"github.com/gocurator/curator/internal/textwidth"
)

// Cell is a text in a column.
type Cell struct {
	Text  string
	Style Style
}

// Cells returns plain cells with these texts.
func Cells(texts ...string) []Cell {
	cells := make([]Cell, len(texts))
	for i, text := range texts {
		cells[i].Text = text
	}
	return cells
}

const (
	gap   = "  " // between two columns
	block = 256  // rows that are aligned together
	empty = "-"  // the text of an empty cell

	// widest limits the width of a column. A wider cell only shifts the rest of its
	// row.
	widest = 120
)

// Writer aligns rows. It buffers up to 256 rows and writes them as a block. From block
// to block, columns can become wider but never narrower. A text of more than 120
// columns only shifts the rest of its row. A Writer is not safe for concurrent use.
type Writer struct {
	out    *bufio.Writer
	colour bool
	widths []int
	rows   [][]Cell
}

// New returns a Writer to out. With colour it writes the escape sequences of
// terminals for styles.
func New(out io.Writer, colour bool) *Writer {
	return &Writer{out: bufio.NewWriter(out), colour: colour}
}

// Reserve makes columns at least this wide, for rows that are flushed one by
// one.
func (w *Writer) Reserve(widths ...int) {
	for i, width := range widths {
		if i == len(w.widths) {
			w.widths = append(w.widths, 0)
		}
		w.widths[i] = max(w.widths[i], width)
	}
}

// Header adds the row with the names of the columns.
func (w *Writer) Header(names ...string) error {
	cells := Cells(names...)
	for i := range cells {
		cells[i].Style = Header
	}
	return w.Row(cells...)
}

// Row adds a row. An empty text shows as "-". Texts must be printable and contain no
// line breaks. Row returns the error of an earlier write.
func (w *Writer) Row(cells ...Cell) error {
	for i, cell := range cells {
		if cell.Text == "" {
			cells[i].Text = empty
		}
		if i == len(w.widths) {
			w.widths = append(w.widths, 0)
		}
		if n := textwidth.Of(cells[i].Text); n <= widest {
			w.widths[i] = max(w.widths[i], n)
		}
	}
	w.rows = append(w.rows, cells)
	if len(w.rows) < block {
		return nil
	}
	return w.Flush()
}

// Flush writes the buffered rows.
func (w *Writer) Flush() error {
	for _, row := range w.rows {
		for i, cell := range row {
			w.write(cell, i, i == len(row)-1)
		}
	}
	w.rows = w.rows[:0]
	return w.out.Flush() // returns the error of an earlier write, too
}

func (w *Writer) write(cell Cell, column int, last bool) {
	text := cell.Text
	if w.colour {
		text = cell.Style.Paint(text)
	}
	w.out.WriteString(text)
	if last {
		w.out.WriteByte('\n')
		return
	}
	w.out.WriteString(strings.Repeat(" ", max(0, w.widths[column]-textwidth.Of(cell.Text))))
	w.out.WriteString(gap)
}
