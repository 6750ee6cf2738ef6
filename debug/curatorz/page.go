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
	"stage":    brief.Stage,
	"waiting":  brief.Waiting,
	"instance": brief.Instance,
	"address":  func(i snapshot.Instance) string { return brief.Address(i.Address, i.Port, i.TLSPort) },
	"policy": func(s *snapshot.Session) string {
		return brief.Policy(s.ErrorPolicy, s.SafetyMargin, s.Timeout.Duration())
	},
	"clock": brief.Clock,
	"stamp": func(t time.Time) string { return t.Format(time.RFC3339Nano) },
	"hex":   func(n int64) string { return "0x" + strconv.FormatInt(n, 16) },
	"third": func(s snapshot.Seconds) float64 { return s.Duration().Seconds() / 3 },
	"at":    at,
	"list":  func(of client, items any) listOf { return listOf{of, items} },
}).Parse(pageText))

// moment is a part of a snapshot, with the time of the snapshot.
type moment struct {
	Now time.Time
	Of  any
}

func at(now time.Time, of any) moment { return moment{now, of} }

// listOf is a list of a client, and the client.
type listOf struct {
	Client client
	List   any
}

// page is what the template shows.
type page struct {
	snapshot.Snapshot
	query
	Clients []client // the template sees these, and not the snapshot's
}

// client is a client of the page.
type client struct {
	snapshot.Client
	Anchor string // begins the names of its sections, for links
	Events snapshot.List[snapshot.Event]
	Query  query
}

// fewItems is how many items of a list the page shows, unless it is asked for
// all of them. The whole lists of a process with 1,000 locks are a megabyte.
const fewItems = 100

func writePage(to *bytes.Buffer, s snapshot.Snapshot, q query) error {
	p := page{Snapshot: s, query: q}
	for i, c := range s.Clients {
		p.Clients = append(p.Clients, clientOf(c, i+1, q))
	}
	return pageTemplate.Execute(to, p)
}

func clientOf(c snapshot.Client, number int, q query) client {
	slices.Reverse(c.Events) // nobody scrolls for the newest
	shown := client{
		Client: c, Anchor: "client-" + strconv.Itoa(number), Query: q,
		Events: snapshot.List[snapshot.Event]{Total: len(c.Events), Items: c.Events},
	}
	if !q.All {
		cut(&shown.Waits)
		cut(&shown.Holds)
		cut(&shown.Registrations)
		cut(&shown.Caches)
		cut(&shown.Instances)
		cut(&shown.Directories)
		cut(&shown.Watches)
		cut(&shown.Events)
	}
	return shown
}

func cut[T any](l *snapshot.List[T]) { l.Items = l.Items[:min(len(l.Items), fewItems)] }
