//go:build real

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/debug/curatorz"
	"github.com/gocurator/curator/debug/snapshot"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// A real server says what it is.
func TestDoctorOfARealServer(t *testing.T) {
	srv := zkserver.Start(t)
	got := runWith(t, "-S", srv.Addr(), "doctor")
	require.Zero(t, got.status, got.err+got.out)
	require.Regexp(t, `(?m)yes +\d+ms +standalone +3\.\d`, got.out)
	require.Contains(t, got.out, "give or take")
}

// The debug page of a process is printed: what it holds, and what happened.
func TestDoctorOfAProcess(t *testing.T) {
	c := curatortest.Connect(t, zktest.Start(t), framework.WithServiceName("orders"))
	lease, err := locks.NewInterProcessMutex(c, "/jobs/bill").Acquire(t.Context())
	require.NoError(t, err)
	defer lease.Release(t.Context())
	page := httptest.NewServer(curatorz.Handler(c))
	defer page.Close()

	got := runWith(t, "doctor", page.URL+"/debug/curatorz?refresh=5")
	require.Zero(t, got.status, got.err)
	require.Contains(t, got.out, "CLIENT 1  orders: connected")
	require.Regexp(t, `holds: 1\n +/jobs/bill +mutex`, got.out)
	require.Regexp(t, `acquired +/jobs/bill`, got.out)

	got = runWith(t, "doctor", "-o", "json", page.URL)
	require.Zero(t, got.status, got.err)
	require.Equal(t, 1, strings.Count(got.out, "\n"))
	var decoded snapshot.Snapshot
	require.NoError(t, json.Unmarshal([]byte(got.out), &decoded))
	require.Equal(t, "/jobs/bill", decoded.Clients[0].Holds.Items[0].Path)
}

// What is no debug page is an error that says so.
func TestDoctorOfOtherPages(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/missing" {
			http.NotFound(w, r)
		}
		io.WriteString(w, map[bool]string{true: "{}", false: "hello"}[r.URL.Path == "/json"])
	}))
	defer page.Close()
	for address, want := range map[string]int{
		page.URL: ownFailure, page.URL + "/json": ownFailure, page.URL + "/missing": noServer, "http://127.0.0.1:1/": noServer, "web-1:6060": badUsage, "http://": badUsage,
	} {
		got := runWith(t, "doctor", address)
		require.Equal(t, want, got.status, "%s: %s", address, got.err)
		require.Contains(t, got.err, "zklock: doctor: ", address)
	}
}

// A password in the URL is not shown, nor is what the answer says as it is.
func TestDoctorOfAPageWithAPassword(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			io.WriteString(conn, "HTTP/1.1 401 \x1b[2Jno\r\nContent-Length: 0\r\n\r\n")
			conn.Close()
		}
	}))
	defer page.Close()
	host := strings.TrimPrefix(page.URL, "http://")
	for address, want := range map[string]string{
		"http://joe:secret@" + host:     "http://joe:xxxxx@" + host + "?format=json: \"401 \\x1b[2Jno\"",
		"http://joe:secret@127.0.0.1:1": "refused",
		"http://joe:secret@":            "no URL",
		"http://joe:secret@%zz/":        "no URL",
	} {
		got := runWith(t, "doctor", address)
		require.NotContains(t, got.err, "secret")
		require.Contains(t, got.err, want)
	}
}
