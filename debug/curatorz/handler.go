package curatorz

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gocurator/curator/debug/snapshot"
	"github.com/gocurator/curator/framework"
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
	return serve(func() snapshot.Snapshot { return snapshot.Of(clients...) })
}

// mostAtATime is how many answers a handler makes at a time. One takes many
// times the memory of its text while it is made. Requests beyond that wait.
const mostAtATime = 2

// serve returns a handler of snapshots, each taken for one request.
func serve(take func() snapshot.Snapshot) http.Handler {
	slots := make(chan struct{}, mostAtATime)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
			return
		}
		f, refresh, problem := parse(r)
		if problem != "" {
			http.Error(w, problem, http.StatusBadRequest)
			return
		}
		select {
		case slots <- struct{}{}:
		case <-r.Context().Done():
			return // nobody reads the answer
		}
		body, err := answer(f, take, refresh, slots)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		setHeaders(w.Header(), f)
		w.Write(body.Bytes())
	})
}

// answer makes an answer, and frees a slot. The answer is complete before any of
// it is sent, so that an error is not half of a page.
func answer(f format, take func() snapshot.Snapshot, refresh int, slots <-chan struct{}) (body bytes.Buffer, err error) {
	defer func() { <-slots }()
	err = f.write(&body, take(), refresh)
	return body, err
}

// format is a form of the answer.
type format struct {
	name        string
	contentType string
	write       func(to *bytes.Buffer, s snapshot.Snapshot, refresh int) error
}

var formats = []format{
	{"html", "text/html; charset=utf-8", writePage},
	{"text", "text/plain; charset=utf-8", func(to *bytes.Buffer, s snapshot.Snapshot, _ int) error { return s.WriteText(to) }},
	{"json", "application/json", writeJSON},
}

func writeJSON(to *bytes.Buffer, s snapshot.Snapshot, _ int) error {
	e := json.NewEncoder(to)
	e.SetIndent("", "\t")
	return e.Encode(s)
}

// longestRefresh is an hour, in seconds.
const longestRefresh = 3600

// parse returns what a request asks for, or what is wrong with it.
func parse(r *http.Request) (f format, refresh int, problem string) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return f, 0, "the query cannot be parsed: " + err.Error()
	}
	name := query.Get("format")
	if name == "" {
		name = accepted(r.Header.Values("Accept"))
	}
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == name })
	if i < 0 {
		return f, 0, "format must be html, text or json"
	}
	if text := query.Get("refresh"); text != "" {
		seconds, err := strconv.Atoi(text)
		if err != nil || seconds < 1 || seconds > longestRefresh {
			return f, 0, "refresh must be a number of seconds, from 1 to 3600"
		}
		refresh = seconds
	}
	return formats[i], refresh, ""
}

// accepted returns the format for a client that does not name one. Browsers
// name text/html, and curl names nothing.
func accepted(accept []string) string {
	all := strings.ToLower(strings.Join(accept, ","))
	switch {
	case strings.Contains(all, "text/html"):
		return "html"
	case strings.Contains(all, "application/json"):
		return "json"
	default:
		return "text"
	}
}

func setHeaders(h http.Header, f format) {
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	// The page has a style of its own and nothing else. If something from a node
	// got past the template, no browser would run it.
	h.Set("Content-Security-Policy", "default-src 'none'; style-src '"+styleHash+"'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'")
}
