package curatorz

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the page and its style
	"encoding/base64"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gocurator/curator/debug/internal/brief"
	"github.com/gocurator/curator/debug/snapshot"
	"github.com/gocurator/curator/internal/printable"
)

//go:embed page.gohtml
var pageText string

//go:embed style.css
var style string

// styleHash is how the Content-Security-Policy names the style.
var styleHash = func() string {
	sum := sha256.Sum256([]byte(style))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}()

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"style":    func() template.CSS { return template.CSS(style) },
	"p":        printable.String,
	"node":     brief.Node,
	"count":    func(n int, what string) string { return brief.Count(n, what) },
	"duration": func(s snapshot.Seconds) string { return brief.Duration(s.Duration()) },
	"since":    brief.Since,
	"words":    func(s string) string { return strings.ReplaceAll(printable.String(s), "_", " ") },
	"clock":    brief.Clock,
	"stamp":    func(t time.Time) string { return t.Format(time.RFC3339Nano) },
	"hex":      func(n int64) string { return "0x" + strconv.FormatInt(n, 16) },
	"third":    func(s snapshot.Seconds) float64 { return s.Duration().Seconds() / 3 },
	"at":       at,
}).Parse(pageText))

// moment is a part of a snapshot, with the time of the snapshot.
type moment struct {
	Now time.Time
	Of  any
}

func at(now time.Time, of any) moment { return moment{now, of} }

// page is what the template shows.
type page struct {
	snapshot.Snapshot
	Refresh int // seconds; 0 for a page that stays
}

func writePage(to *bytes.Buffer, s snapshot.Snapshot, refresh int) error {
	newestFirst(s)
	return pageTemplate.Execute(to, page{s, refresh})
}

// newestFirst turns the events round: nobody scrolls for the newest.
func newestFirst(s snapshot.Snapshot) {
	for _, c := range s.Clients {
		slices.Reverse(c.Events)
	}
}
