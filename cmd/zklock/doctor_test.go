package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/debug/curatorz"
	"github.com/gocurator/curator/debug/snapshot"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/hostname"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// noProcess is an id that no process has: it is beyond the largest one.
const noProcess = 1 << 30

// patient replaces what is different in each run of the doctor.
func patient(s *stand, text string) string {
	text = strings.ReplaceAll(text, s.Addr(), "127.0.0.1:2181")
	text = strings.ReplaceAll(text, hostname.Get(), "web-9")
	text = regexp.MustCompile(` +\d+ms +standalone`).ReplaceAllString(text, "  5ms  standalone")
	text = regexp.MustCompile(`"latency_seconds":[0-9.]+`).ReplaceAllString(text, `"latency_seconds":0.005`)
	return text
}

// A healthy ensemble has no findings, and the doctor leaves nothing behind.
func TestDoctorFindsNothing(t *testing.T) {
	s := shop(t)
	before := len(s.Tree())
	for name, format := range map[string]string{"healthy.table": "table", "healthy.json": "json"} {
		got := s.zklock(t, "doctor", "-o", format)
		require.Zero(t, got.status, got.err+got.out)
		requireGolden(t, name, patient(s, got.out))
	}
	require.Len(t, s.Tree(), before)
}

// Each kind of leftover is found. Hints alone are nothing wrong.
func TestDoctorFindsLeftovers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("processes are not looked up here")
	}
	s := shop(t)
	c := s.client(t)
	_, err := c.Create(t.Context(), "/jobs/bill/README", []byte("do not touch"))
	require.NoError(t, err)
	_, err = c.Create(t.Context(), "/old/lock", nil, framework.WithPersistentParents())
	require.NoError(t, err)
	require.NoError(t, c.Delete(t.Context(), "/old/lock", framework.AnyVersion))
	got := s.zklock(t, "doctor")
	require.Zero(t, got.status, got.out)
	require.Equal(t, 2, strings.Count(got.out, "hint: "), got.out)

	_, err = c.Create(t.Context(), "/stays/"+guid(1)+"lock-", []byte("10.0.0.9"), framework.WithMode(framework.PersistentSequential), framework.WithParents())
	require.NoError(t, err)
	dead := strings.ReplaceAll(identity("orders", noProcess), "web-1", hostname.Get())
	node(t, c, "/stale/"+guid(2)+"lock-", dead)
	for name, format := range map[string]string{"unwell.table": "table", "unwell.json": "json"} {
		got := s.zklock(t, "doctor", "-o", format)
		require.Equal(t, unwell, got.status, got.err)
		requireGolden(t, name, patient(s, got.out))
	}
}

// A stranger is told once, however many recipes have the path.
func TestDoctorTellsAStrangerOnce(t *testing.T) {
	s := newStand(t)
	c := s.client(t)
	for i, name := range []string{"lock-", "__READ__", "latch-"} {
		node(t, c, "/many/"+guid(i)+name, identity("orders", 4711))
	}
	_, err := c.Create(t.Context(), "/many/README", nil)
	require.NoError(t, err)
	got := s.zklock(t, "doctor")
	require.Equal(t, 1, strings.Count(got.out, "stranger in a queue"), got.out)
}

// A server that does not answer is named. If none does, the status says so.
func TestDoctorAsksEachServer(t *testing.T) {
	s := newStand(t)
	got := s.zklock(t, "-S", s.Addr()+",127.0.0.1:1", "doctor")
	require.Equal(t, unwell, got.status, got.err)
	require.Regexp(t, `(?m)^127.0.0.1:1 +no `, got.out)
	require.Regexp(t, `(?m)^server does not answer +127.0.0.1:1 .*refused`, got.out)
	got = s.zklock(t, "-S", "127.0.0.1:1", "doctor")
	require.Equal(t, noServer, got.status, got.err)
	require.Equal(t, badUsage, s.zklock(t, "-S", "127.0.0.1:1:1", "doctor").status)
}

// A chroot that does not exist is as good as another server.
func TestDoctorMissesTheChroot(t *testing.T) {
	s := newStand(t)
	got := s.zklock(t, "-S", s.Addr()+"/shpo", "doctor")
	require.Equal(t, unwell, got.status, got.err)
	require.Contains(t, got.out, "no chroot")
	require.Len(t, s.Tree(), len(newStand(t).Tree()), "and is not created")
}

// The offset of the clock is measured, and told when ages are wrong.
func TestDoctorComparesClocks(t *testing.T) {
	s := newStand(t)
	ahead := now
	now = func() time.Time { return ahead().Add(-90 * time.Second) }
	got := s.zklock(t, "doctor")
	require.Equal(t, unwell, got.status)
	require.Contains(t, got.out, "the server is 1m30s ahead, give or take 1ms")
	require.Contains(t, got.out, "ages are wrong by 1m30s")
	now = func() time.Time { return ahead().Add(500 * time.Millisecond) }
	got = s.zklock(t, "doctor")
	require.Zero(t, got.status)
	require.Contains(t, got.out, "the server is 500ms behind")
}

// The granted session timeout is told if it is another.
func TestDoctorTellsTheSessionTimeout(t *testing.T) {
	s := newStand(t, zktest.WithSessionTimeouts(time.Second, 6*time.Second))
	require.Contains(t, s.zklock(t, "doctor").out, "timeout 6s, negotiated: 10s was asked for")
	require.Contains(t, s.zklock(t, "doctor", "--session-timeout", "5").out, "timeout 5s, as asked for")
}

// A real server says what it is.
func TestDoctorOfARealServer(t *testing.T) {
	srv := zkserver.Start(t)
	s := &stand{}
	got := runWith(t, s, "-S", srv.Addr(), "doctor")
	require.Zero(t, got.status, got.err+got.out)
	require.Regexp(t, `(?m)yes +\d+ms +standalone +3\.\d`, got.out)
	require.Contains(t, got.out, "give or take")
}

func runWith(t *testing.T, s *stand, args ...string) result {
	t.Helper()
	var out, errs strings.Builder
	status := run(t.Context(), args, streams{strings.NewReader(""), &out, &errs})
	return result{status, s.plain(out.String()), s.plain(errs.String())}
}

// The debug page of a process is printed: what it holds, and what happened.
func TestDoctorOfAProcess(t *testing.T) {
	s := newStand(t)
	c := s.client(t, framework.WithServiceName("orders"))
	lease, err := locks.NewInterProcessMutex(c, "/jobs/bill").Acquire(t.Context())
	require.NoError(t, err)
	defer lease.Release(t.Context())
	page := httptest.NewServer(curatorz.Handler(c))
	defer page.Close()

	got := runWith(t, s, "doctor", page.URL+"/debug/curatorz?refresh=5")
	require.Zero(t, got.status, got.err)
	require.Contains(t, got.out, "CLIENT 1  orders: connected")
	require.Regexp(t, `holds: 1\n +/jobs/bill +mutex`, got.out)
	require.Regexp(t, `acquired +/jobs/bill`, got.out)

	got = runWith(t, s, "doctor", "-o", "json", page.URL)
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
		got := runWith(t, &stand{}, "doctor", address)
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
		got := runWith(t, &stand{}, "doctor", address)
		require.NotContains(t, got.err, "secret")
		require.Contains(t, got.err, want)
	}
}
