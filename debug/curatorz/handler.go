package curatorz

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// mostAtATime is how many answers a page makes at the same time; further requests wait.
// Making an answer takes many times the memory of its text.
const mostAtATime = 2

func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	select {
	case p.slots <- struct{}{}:
	case <-r.Context().Done():
		return // the client has disconnected
	}
	body, err := p.answer(q)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	setHeaders(w.Header(), q)
	w.Write(body)
}

// answer makes an answer, and frees a slot. answer completes the answer before sending
// it, so an error never follows half a page.
func (p *page) answer(q query) ([]byte, error) {
	defer func() { <-p.slots }()
	d := documentOf(p.take(), q)
	if q.Format == "text" {
		return d.text(), nil
	}
	var body bytes.Buffer
	err := documentTemplate.Execute(&body, d)
	return body.Bytes(), err
}

func setHeaders(h http.Header, q query) {
	h.Set("Content-Type", map[string]string{"html": "text/html", "text": "text/plain"}[q.Format]+"; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	// The policy allows only the page's own style. If a text from a node got past the
	// template, no browser would run it.
	h.Set("Content-Security-Policy", "default-src 'none'; style-src '"+styleHash+
		"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
}

// query has the parameters of a request.
type query struct {
	Format  string // "html" or "text"
	Refresh int    // seconds; 0 for a page that does not reload
	Path    string // the text that each shown path contains
	All     bool   // lists have up to mostItems items instead of fewItems
}

// These are the limits of a list's items. The complete lists of a process with 1,000
// locks take a megabyte.
const (
	fewItems  = 100
	mostItems = 1000
)

func (q query) most() int {
	if q.All {
		return mostItems
	}
	return fewItems
}

const (
	longestRefresh = 3600 // an hour, in seconds
	longestPath    = 1000 // more than a person types
)

// parse parses a request. If the request is invalid, parse returns the problem.
func parse(r *http.Request) (q query, problem string) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return q, "the query cannot be parsed: " + err.Error()
	}
	q = query{Format: values.Get("format"), Path: values.Get("path"), All: values.Has("all")}
	if q.Format == "" {
		q.Format = accepted(r.Header.Values("Accept"))
	}
	if q.Format != "html" && q.Format != "text" {
		return q, "format must be html or text"
	}
	if len(q.Path) > longestPath {
		return q, "path must have no more than " + strconv.Itoa(longestPath) + " bytes"
	}
	if text := values.Get("refresh"); text != "" {
		q.Refresh, err = strconv.Atoi(text)
		if err != nil || q.Refresh < 1 || q.Refresh > longestRefresh {
			return q, "refresh must be a number of seconds, from 1 to 3600"
		}
	}
	return q, ""
}

// accepted returns the format for a request without the parameter. Browsers accept
// text/html explicitly, and curl does not.
func accepted(accept []string) string {
	if strings.Contains(strings.ToLower(strings.Join(accept, ",")), "text/html") {
		return "html"
	}
	return "text"
}

// These are links to the same page with other parameters.

func (q query) Formatted(format string) string { q.Format = format; return q.link() }
func (q query) Every(seconds int) string       { q.Refresh = seconds; return q.link() }
func (q query) Whole() string                  { q.All = true; return q.link() }
func (q query) AnyPath() string                { q.Path = ""; return q.link() }

func (q query) link() string {
	values := url.Values{"format": {q.Format}}
	if q.Refresh > 0 && q.Format == "html" {
		values.Set("refresh", strconv.Itoa(q.Refresh))
	}
	if q.Path != "" {
		values.Set("path", q.Path)
	}
	if q.All {
		values.Set("all", "1")
	}
	return "?" + values.Encode()
}
