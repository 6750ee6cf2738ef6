package curatorz

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gocurator/curator/debug/snapshot"
)

// query is what a request asks for.
type query struct {
	Format  string
	Refresh int    // seconds; 0 for a page that stays
	Path    string // what is in the path of all that is shown
	All     bool   // lists have up to snapshot.MaxItems items, and not only fewItems
}

const (
	longestRefresh = 3600 // an hour, in seconds
	longestPath    = 1000 // what a person types is shorter
)

// parse returns what a request asks for, or what is wrong with it.
func parse(r *http.Request) (q query, problem string) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return q, "the query cannot be parsed: " + err.Error()
	}
	q = query{Format: values.Get("format"), Path: values.Get("path"), All: values.Has("all")}
	if q.Format == "" {
		q.Format = accepted(r.Header.Values("Accept"))
	}
	if !slices.ContainsFunc(formats, func(f format) bool { return f.name == q.Format }) {
		return q, "format must be html, text or json"
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

// These are links to the same page, asked for differently.

func (q query) Formatted(format string) string { q.Format = format; return q.link() }
func (q query) Every(seconds int) string       { q.Refresh = seconds; return q.link() }
func (q query) Whole() string                  { q.All = true; return q.link() }
func (q query) AnyPath() string                { q.Path = ""; return q.link() }

// Most is how many items a list has at most, asked for all.
func (q query) Most() int { return snapshot.MaxItems }

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
