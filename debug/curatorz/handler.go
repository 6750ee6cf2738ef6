package curatorz

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/gocurator/curator/debug/snapshot"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
)

// Handler returns the handler of the debug page of these clients. It serves
// every path that it is mounted at, and only the methods GET and HEAD. The
// answer to a query that makes no sense has the status 400, and says what is
// wrong.
//
// A client may be closed while the handler is in use: the page goes on to show
// its last events. Views of a client are that client. A nil client is left out.
func Handler(clients ...*framework.Client) http.Handler {
	clients = slices.Clone(clients)
	return serve(func(path string) snapshot.Snapshot { return snapshot.Matching(path, clients...) })
}

// mostAtATime is how many answers a handler makes at a time. One takes many
// times the memory of its text while it is made. Requests beyond that wait.
const mostAtATime = 2

// serve returns a handler of snapshots, each taken for one request, with what
// has the text in its path.
func serve(take func(path string) snapshot.Snapshot) http.Handler {
	slots := make(chan struct{}, mostAtATime)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
			return
		}
		q, problem := parse(r)
		if problem != "" {
			http.Error(w, problem, http.StatusBadRequest)
			return
		}
		f := formats[slices.IndexFunc(formats, func(f format) bool { return f.name == q.Format })]
		select {
		case slots <- struct{}{}:
		case <-r.Context().Done():
			return // nobody reads the answer
		}
		body, err := answer(f, take, q, slots)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		setHeaders(w.Header(), f)
		w.Write(body.Bytes())
	})
}

// answer makes an answer, and frees a slot. The answer is complete before any
// of it is sent, so that an error is not half of a page.
func answer(f format, take func(path string) snapshot.Snapshot, q query, slots <-chan struct{}) (body bytes.Buffer, err error) {
	defer func() { <-slots }()
	err = f.write(&body, take(q.Path), q)
	return body, err
}

// format is a form of the answer.
type format struct {
	name        string
	contentType string
	write       func(to *bytes.Buffer, s snapshot.Snapshot, q query) error
}

var formats = []format{
	{"html", "text/html; charset=utf-8", writePage},
	{"text", "text/plain; charset=utf-8", func(to *bytes.Buffer, s snapshot.Snapshot, _ query) error { return s.WriteText(to) }},
	{"json", "application/json", writeJSON},
}

func writeJSON(to *bytes.Buffer, s snapshot.Snapshot, _ query) error {
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetIndent("", "\t")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := to.Write(printable.JSON(plain.Bytes()))
	return err
}

func setHeaders(h http.Header, f format) {
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	// The page has a style of its own and nothing else. If something from a node
	// got past the template, no browser would run it.
	h.Set("Content-Security-Policy", "default-src 'none'; style-src '"+styleHash+"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
}
