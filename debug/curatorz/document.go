package curatorz

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the page and its style
	"encoding/base64"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gocurator/curator/internal/hostname"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/internal/textwidth"
)

//go:embed document.gohtml
var documentText string

//go:embed style.css
var style string

// styleHash is the name of the style in the Content-Security-Policy.
var styleHash = func() string {
	sum := sha256.Sum256([]byte(style))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}()

var documentTemplate = template.Must(template.New("document").Funcs(template.FuncMap{
	"style": func() template.CSS { return template.CSS(style) },
}).Parse(documentText))

// document is the content of the page. Its texts can be printed in a line.
type document struct {
	query
	Process string
	Time    string
	Filter  string // the query's Path
	Clients []client
}

// client is one client, with all its views. Paths begin at the server's root: they
// include the chroot, and the namespaces of the views.
type client struct {
	Name     string
	State    string
	Good     bool
	Facts    []fact
	Sections []section
}

// fact is a property of a client as a whole.
type fact struct {
	Name, Text string
	Trouble    bool
}

// section is a list of items in a table.
type section struct {
	Name  string
	Note  string // about all items
	Head  []string
	Rows  []row
	Total int // how many items there are; the rows may be only the first ones
}

// row is one item of a section, with as many cells as the head.
type row struct {
	Cells   []string
	Trouble bool
}

// rowOf returns a row whose cells can be printed, whatever other clients have
// written into nodes.
func rowOf(trouble bool, cells ...string) row {
	for i := range cells {
		cells[i] = printable.String(cells[i])
	}
	return row{cells, trouble}
}

// sectionOf describes the first items, up to most.
func sectionOf[T any](name string, head []string, all []T, most int, describe func(T) row) section {
	s := section{Name: name, Head: head, Total: len(all)}
	for _, one := range all[:min(len(all), most)] {
		s.Rows = append(s.Rows, describe(one))
	}
	return s
}

// documentOf describes clients as of a moment.
func documentOf(m moment, q query) document {
	d := document{
		query: q, Time: m.now.Format("2006-01-02 15:04:05 MST"), Filter: printable.String(q.Path),
		Process: printable.String(fmt.Sprintf("%s, pid %d on %s, %s, %s", filepath.Base(os.Args[0]), os.Getpid(),
			hostname.Get(), runtime.Version(), count(runtime.NumGoroutine(), "goroutine"))),
	}
	for _, s := range m.clients {
		d.Clients = append(d.Clients, view{m.now, q.Path, q.most()}.client(s))
	}
	return d
}

// text returns the document as text.
func (d document) text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s, at %s\n", d.Process, d.Time)
	if d.Filter != "" {
		fmt.Fprintf(&b, "only paths that contain %s\n", d.Filter)
	}
	for i, c := range d.Clients {
		fmt.Fprintf(&b, "\nCLIENT %d  %s: %s\n", i+1, c.Name, c.State)
		for _, f := range c.Facts {
			fmt.Fprintf(&b, "  %s: %s\n", f.Name, f.Text)
		}
		for _, s := range c.Sections {
			s.writeText(&b)
		}
	}
	if len(d.Clients) == 0 {
		fmt.Fprintln(&b, "no clients")
	}
	return b.Bytes()
}

func (s section) writeText(b *bytes.Buffer) {
	switch {
	case s.Total == 0:
		fmt.Fprintf(b, "  no %s\n", s.Name)
		return
	case len(s.Rows) < s.Total:
		fmt.Fprintf(b, "  %s: %d, %d shown\n", s.Name, s.Total, len(s.Rows))
	default:
		fmt.Fprintf(b, "  %s: %d\n", s.Name, s.Total)
	}
	widths := make([]int, len(s.Head))
	lines := [][]string{s.Head}
	for _, r := range s.Rows {
		lines = append(lines, r.Cells)
	}
	for _, cells := range lines {
		for i, cell := range cells {
			widths[i] = max(widths[i], textwidth.Of(cell))
		}
	}
	for _, cells := range lines {
		line := "   "
		for i, cell := range cells {
			line += " " + cell + strings.Repeat(" ", widths[i]-textwidth.Of(cell)+1)
		}
		fmt.Fprintln(b, strings.TrimRight(line, " "))
	}
}
