package curatorz

import (
	"encoding/xml"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// get asks for a page, and returns the answer.
func get(t *testing.T, h http.Handler, query, accept string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/debug/curatorz"+query, nil)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	require.NoError(t, err)
	return w.Result(), string(body)
}

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

func TestFormats(t *testing.T) {
	h := serve(fixture)
	for _, tt := range []struct{ query, accept, contentType, contains string }{
		{"", browser, "text/html; charset=utf-8", "<!DOCTYPE html>"},
		{"?format=html", "", "text/html; charset=utf-8", "<!DOCTYPE html>"},
		{"", "*/*", "text/plain; charset=utf-8", "CLIENT 1  orders"}, // curl
		{"", "", "text/plain; charset=utf-8", "CLIENT 1  orders"},
		{"?format=text", browser, "text/plain; charset=utf-8", "CLIENT 1  orders"},
	} {
		answer, body := get(t, h, tt.query, tt.accept)
		require.Equal(t, http.StatusOK, answer.StatusCode, tt)
		require.Equal(t, tt.contentType, answer.Header.Get("Content-Type"), tt)
		require.Equal(t, "no-store", answer.Header.Get("Cache-Control"), tt)
		require.Equal(t, "Accept", answer.Header.Get("Vary"), tt)
		require.Contains(t, body, tt.contains, tt)
	}
}

var update = flag.Bool("update", false, "write the files in testdata")

// The first line names the process.
var process = regexp.MustCompile(`^\S+, pid \d+ on .*, \d+ goroutines?, at `)

func TestGoldenText(t *testing.T) {
	_, body := get(t, serve(fixture), "?format=text", "")
	require.Regexp(t, process, body)
	_, got, _ := strings.Cut(body, "\n")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile("testdata/page.txt", []byte(got), 0o644))
	}
	want, err := os.ReadFile("testdata/page.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), got, "go test -update writes it anew")
}

// Text of others cannot move the cursor, begin a line, or run backwards.
func TestTextQuotesWhatOthersHaveWritten(t *testing.T) {
	_, body := get(t, serve(fixture), "?format=text&path=%1b", "")
	_, all := get(t, serve(fixture), "?format=text", "")
	for _, c := range []string{"\x1b", "\u202e", "\r"} {
		require.NotContains(t, body, c)
		require.NotContains(t, all, c)
	}
	require.Contains(t, all, `"/locks/\x1b[31m\u202e\n<script>alert(1)</script>"`)
}

func TestRequestsThatMakeNoSense(t *testing.T) {
	for query, problem := range map[string]string{
		"?format=yaml": "format must be", "?refresh=0": "refresh must be", "?refresh=x": "refresh must be",
		"?refresh=-5": "refresh must be", "?refresh=3601": "refresh must be", "?refresh=99999999999999999999": "refresh must be",
		"?path=" + strings.Repeat("x", 1001): "path must have", "?format=%zz": "cannot be parsed", "?x=%": "cannot be parsed",
		"?a;format=text": "cannot be parsed", "?format=json": "format must be",
	} {
		answer, body := get(t, serve(fixture), query, browser)
		require.Equal(t, http.StatusBadRequest, answer.StatusCode, query)
		require.Contains(t, body, problem, query)
	}
}

// The page is read-only.
func TestOnlyGetAndHead(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		w := httptest.NewRecorder()
		serve(fixture).ServeHTTP(w, httptest.NewRequest(method, "/", nil))
		require.Equal(t, http.StatusMethodNotAllowed, w.Code, method)
		require.Equal(t, "GET, HEAD", w.Header().Get("Allow"), method)
	}
	w := httptest.NewRecorder()
	serve(fixture).ServeHTTP(w, httptest.NewRequest(http.MethodHead, "/", nil))
	require.Equal(t, http.StatusOK, w.Code)
}

func TestRefresh(t *testing.T) {
	_, body := get(t, serve(fixture), "?refresh=5", browser)
	require.Contains(t, body, `<meta http-equiv="refresh" content="5">`)
	_, body = get(t, serve(fixture), "", browser)
	require.NotContains(t, body, `http-equiv="refresh"`)
}

// The elements of the page are well nested, every cell says what it is, for
// screens that are too narrow for a table, and nothing is loaded.
func TestPageIsWellFormed(t *testing.T) {
	_, body := get(t, serve(fixture), "", browser)
	d := xml.NewDecoder(strings.NewReader(body))
	d.Strict = false
	d.AutoClose = []string{"meta", "input"}
	d.Entity = xml.HTMLEntity
	var open []string
	found := map[string]int{}
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		switch e := token.(type) {
		case xml.StartElement:
			name := e.Name.Local
			open = append(open, name)
			found[name]++
			attributes := map[string]string{}
			for _, a := range e.Attr {
				attributes[a.Name.Local] = a.Value
				require.False(t, strings.HasPrefix(a.Name.Local, "on"), "a script in <%s>", name)
				require.NotContains(t, []string{"src", "style"}, a.Name.Local, "in <%s>", name)
			}
			if name == "td" {
				require.NotEmpty(t, attributes["data-label"], "a cell")
			}
		case xml.EndElement:
			require.NotEmpty(t, open)
			require.Equal(t, open[len(open)-1], e.Name.Local)
			open = open[:len(open)-1]
		}
	}
	require.Empty(t, open)
	for _, name := range []string{"script", "link", "img", "iframe", "object"} {
		require.Zero(t, found[name], name)
	}
	require.Equal(t, 3, found["article"], "clients")
	require.Equal(t, 1, found["form"], "the filter")
}

// What others have written cannot become a part of the page, run backwards, or
// hide.
func TestPageEscapesWhatOthersHaveWritten(t *testing.T) {
	_, body := get(t, serve(fixture), "", browser)
	require.NotContains(t, body, "<script")
	require.NotContains(t, body, "<b>not bold")
	require.NotContains(t, body, "\x1b")
	require.NotContains(t, body, "\u202e")
	require.Contains(t, body, `\u202e\n&lt;script&gt;alert(1)&lt;/script&gt;`)
	answer, _ := get(t, serve(fixture), "", browser)
	policy := answer.Header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'")
	require.Contains(t, policy, styleHash)
	require.Contains(t, body, "<style>"+style+"</style>", "the hash is that of the style as it is served")
}

// What a person looks for is on the page.
func TestPageShowsTheClients(t *testing.T) {
	_, body := get(t, serve(fixture), "", browser)
	for _, text := range []string{
		"connected for 3h", "0x1000a2b3c4d0001", "11.2s of 15s", "2.3s ago", // the session
		"/shop/locks/sku-42", "1m12s", "asked to release it, 1 of this client waiting", "1.5s before the servers end it",
		"waits at the server, 2 ahead, as seen 1m ago", "8589934670", // holds
		"this client (lock-0000000041)", "queued 1h ago", "bills@web-3/7", // waits
		"NOT registered for 1m, conflict",                                                               // registrations
		"behind for 40ms, 3 transactions", "the root CANNOT BE READ: not authenticated", "1 unreadable", // caches
		"lock node deleted by someone else", "reconnected to zk2:2181", // events
		"lost for 1m30s", "over: session lost", "not in the list", "12, 11 failed", // the failing client
		"the list of servers is old", "2026-01-01 09:04:05.600", ">closed<",
	} {
		require.Contains(t, body, text)
	}
	require.Less(t, strings.Index(body, "<h3>waits"), strings.Index(body, "<h3>holds"), "who waits is asked first")
	require.Less(t, strings.Index(body, "lock node deleted"), strings.Index(body, ">reconnected to"), "the newest event is first")
}

func TestPageOfAClientThatWasNeverConnected(t *testing.T) {
	_, body := get(t, serve(func() moment {
		m := fixture()
		m.clients[1].status.NeverConnected = true
		return m
	}), "", browser)
	require.Contains(t, body, ">connecting, never connected<")
	require.NotContains(t, body, ">lost for")
}

func TestPageWithoutClients(t *testing.T) {
	_, body := get(t, newPage(), "", browser)
	require.Contains(t, body, "There are no clients.")
	_, body = get(t, newPage(), "?format=text", "")
	require.Contains(t, body, "no clients")
}
