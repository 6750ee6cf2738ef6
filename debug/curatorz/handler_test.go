package curatorz

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/debug/snapshot"
)

// fixture is the snapshot of the golden file of package snapshot: one that has
// something of everything.
func fixture(path string) snapshot.Snapshot {
	data, err := os.ReadFile("../snapshot/testdata/snapshot.json")
	if err != nil {
		panic(err)
	}
	var s snapshot.Snapshot
	if err := json.Unmarshal(data, &s); err != nil {
		panic(err)
	}
	s.Filter = path // what it finds is up to package snapshot
	return s
}

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
	for _, tt := range []struct{ query, accept, contentType, begins string }{
		{"", browser, "text/html; charset=utf-8", "<!DOCTYPE html>"},
		{"?format=html", "", "text/html; charset=utf-8", "<!DOCTYPE html>"},
		{"", "*/*", "text/plain; charset=utf-8", "orders, pid 4711"}, // curl
		{"", "", "text/plain; charset=utf-8", "orders, pid 4711"},
		{"?format=text", browser, "text/plain; charset=utf-8", "orders, pid 4711"},
		{"", "application/json", "application/json", "{"},
		{"?format=json", browser, "application/json", "{"},
	} {
		answer, body := get(t, h, tt.query, tt.accept)
		require.Equal(t, http.StatusOK, answer.StatusCode, tt)
		require.Equal(t, tt.contentType, answer.Header.Get("Content-Type"), tt)
		require.Equal(t, "no-store", answer.Header.Get("Cache-Control"), tt)
		require.Equal(t, "Accept", answer.Header.Get("Vary"), tt)
		require.True(t, strings.HasPrefix(body, tt.begins), "%+v: %.80s", tt, body)
	}
}

// The two other forms are those of package snapshot, which has the golden
// files.
func TestTextAndJSONAreThoseOfTheSnapshot(t *testing.T) {
	var text bytes.Buffer
	require.NoError(t, fixture("").WriteText(&text))
	_, body := get(t, serve(fixture), "?format=text", "")
	require.Equal(t, text.String(), body)

	_, body = get(t, serve(fixture), "?format=json", "")
	var back snapshot.Snapshot
	require.NoError(t, json.Unmarshal([]byte(body), &back))
	require.Equal(t, fixture(""), back)
}

// Characters that a terminal hides or obeys are escaped, also in JSON.
func TestJSONCanBePrinted(t *testing.T) {
	_, body := get(t, serve(func(string) snapshot.Snapshot {
		return snapshot.Snapshot{Version: snapshot.Version, Clients: []snapshot.Client{{Chroot: "/\u202eevil\ufeff"}}}
	}), "?format=json", "")
	require.NotContains(t, body, "\u202e")
	require.Contains(t, body, `"/\u202eevil\ufeff"`)
}

func TestRequestsThatMakeNoSense(t *testing.T) {
	for query, problem := range map[string]string{
		"?format=yaml": "format must be", "?refresh=0": "refresh must be", "?refresh=x": "refresh must be",
		"?refresh=-5": "refresh must be", "?refresh=3601": "refresh must be", "?refresh=99999999999999999999": "refresh must be",
		"?path=" + strings.Repeat("x", 1001): "path must have", "?format=%zz": "cannot be parsed", "?x=%": "cannot be parsed", "?a;format=json": "cannot be parsed",
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
	require.Equal(t, 1, found["meter"], "the time left of the session that lives")
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
func TestPageShowsTheSnapshot(t *testing.T) {
	_, body := get(t, serve(fixture), "", browser)
	for _, text := range []string{
		"connected for 3h", "0x1000a2b3c4d0001", "11.2s of 15s", "2.3s ago", // the session
		"/shop/locks/sku-42", "1m12s", "asked to release it, 1 of this client waits", "1.5s before the servers end it", "waits at the server", "as seen 1m ago", "being released", "8589934670", // holds
		"this client", "queued 1m13s ago", "bills@web-3/7", "3 of 1500 are shown", // waits
		"not registered: conflict", "ended by itself: not authorized", "not deleted yet and may exist", // registrations
		"behind", "40ms, 3 transactions", "the root cannot be read: not authenticated", "1 unreadable", // caches
		"lock node deleted by someone else", "opened", // events
		"lost for 1m30s", "over: session lost", "not in the list", "12, 11 failed", // the client in trouble
		"The list of servers is old", "lost, not released", "ended 5m ago: not authorized",
		"are not recorded", ">closed<",
	} {
		require.Contains(t, body, text)
	}
	require.NotContains(t, body, "SessionPolicy", "plain words")
	require.Less(t, strings.Index(body, ">Held by<"), strings.Index(body, ">Right ahead<"), "who holds is asked before who waits")
	require.Less(t, strings.Index(body, "<h3>Waits"), strings.Index(body, "<h3>Holds"), "who waits is asked first")
	require.Less(t, strings.Index(body, "lock node deleted"), strings.Index(body, ">opened"), "the newest event is first")
}

func TestPageOfAClientThatWasNeverConnected(t *testing.T) {
	_, body := get(t, serve(func(string) snapshot.Snapshot {
		s := fixture("")
		s.Clients[1].State.NeverConnected = true
		return s
	}), "", browser)
	require.Contains(t, body, ">connecting, never connected<")
	require.NotContains(t, body, ">lost for")
}

func TestPageWithoutClients(t *testing.T) {
	_, body := get(t, Handler(), "", browser)
	require.Contains(t, body, "There are no clients.")
	_, body = get(t, Handler(nil), "?format=json", "")
	require.Contains(t, body, `"clients": []`)
}
