//go:build real

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/kazootest"
)

// program is zkfake at work in this process.
type program struct {
	t       *testing.T
	addr    string
	control string
}

// begin runs the program with a remote control until the test ends.
func begin(t *testing.T, args ...string) *program {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	ended := make(chan int, 1)
	args = append([]string{"-listen", "127.0.0.1:0", "-control", "127.0.0.1:0"}, args...)
	go func() {
		status := run(ctx, args, w, t.Output())
		w.Close()
		ended <- status
	}()
	out := bufio.NewReader(r)
	p := &program{t: t}
	p.addr = line(t, out, "listening on ")
	p.control = line(t, out, "control on ")
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		cancel()
		_, err := io.Copy(io.Discard, out)
		require.NoError(t, err)
		require.Equal(t, done, <-ended)
	})
	return p
}

// line reads a line that begins with the words, and returns the rest.
func line(t *testing.T, r *bufio.Reader, words string) string {
	t.Helper()
	s, err := r.ReadString('\n')
	require.NoError(t, err)
	rest, ok := strings.CutPrefix(strings.TrimSpace(s), words)
	require.True(t, ok, s)
	return rest
}

// ask sends a request and returns the status of the answer and its body.
func (p *program) ask(method, path string) (int, string) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.control+path, nil)
	require.NoError(p.t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(p.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(p.t, err)
	return resp.StatusCode, string(body)
}

// do sends a POST or DELETE that has nothing to tell.
func (p *program) do(method, path string) {
	p.t.Helper()
	status, body := p.ask(method, path)
	require.Equal(p.t, http.StatusNoContent, status, body)
}

// get reads JSON.
func get[T any](p *program, path string) T {
	p.t.Helper()
	status, body := p.ask(http.MethodGet, path)
	require.Equal(p.t, http.StatusOK, status, body)
	var v T
	require.NoError(p.t, json.Unmarshal([]byte(body), &v), body)
	return v
}

// eventually asks again until the condition holds. The program is seen from
// outside here, where there is nothing to wait for.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	require.Eventually(t, holds, time.Minute, 10*time.Millisecond)
}

// await reads events until the session has the state.
func await(t *testing.T, events <-chan zk.Event, state zk.State) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		select {
		case ev := <-events:
			if ev.Type == zk.EventSession && ev.State == state {
				return
			}
		case <-deadline:
			require.FailNow(t, "no state "+state.String())
		}
	}
}

// client connects and is closed when the test ends.
func (p *program) client() (*zk.Conn, <-chan zk.Event) {
	p.t.Helper()
	conn, events, err := zk.Connect(strings.Split(p.addr, ","), 30*time.Second, zk.WithLogger(discardLogger{}))
	require.NoError(p.t, err)
	p.t.Cleanup(func() {
		conn.Close()
		for range events {
		}
	})
	await(p.t, events, zk.StateHasSession)
	return conn, events
}

func TestRestartKeepsPortSessionsAndNodes(t *testing.T) {
	t.Parallel()
	p := begin(t)
	conn, events := p.client()
	_, err := conn.Create("/e", []byte("x"), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	session := conn.SessionID()

	p.do(http.MethodPost, "/stop")
	await(t, events, zk.StateDisconnected)
	require.Equal(t, "stopped", get[statusBody](p, "/status").Members[0].Mode)

	p.do(http.MethodPost, "/restart")
	await(t, events, zk.StateHasSession)
	require.Equal(t, session, conn.SessionID())
	there, _, err := conn.Exists("/e")
	require.NoError(t, err)
	require.True(t, there)
	require.Equal(t, "standalone", get[statusBody](p, "/status").Members[0].Mode)
}

func TestSessionExpires(t *testing.T) {
	t.Parallel()
	p := begin(t)
	conn, events := p.client()
	_, err := conn.Create("/e", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	id := fmt.Sprintf("%#x", conn.SessionID())
	require.Equal(t, []string{"/e"}, get[sessionBody](p, "/sessions/"+id).Ephemerals)

	p.do(http.MethodPost, "/sessions/"+id+"/expire")
	await(t, events, zk.StateExpired)
	await(t, events, zk.StateHasSession)
	there, _, err := conn.Exists("/e")
	require.NoError(t, err)
	require.False(t, there)
	status, body := p.ask(http.MethodPost, "/sessions/"+id+"/expire")
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, body, "no session "+id)
}

func TestSessionIsCutBlackHoledAndPaused(t *testing.T) {
	t.Parallel()
	p := begin(t)
	conn, events := p.client()
	own := fmt.Sprintf("/sessions/%d/", conn.SessionID())

	p.do(http.MethodPost, own+"cut")
	await(t, events, zk.StateDisconnected)
	await(t, events, zk.StateHasSession)

	answered := make(chan error, 1)
	ask := func() {
		_, _, err := conn.Get("/")
		answered <- err
	}
	p.do(http.MethodPost, own+"pause")
	go ask()
	select {
	case err := <-answered:
		require.Fail(t, "a paused session is answered", "%v", err)
	case <-time.After(50 * time.Millisecond):
	}
	p.do(http.MethodPost, own+"resume")
	require.NoError(t, <-answered)

	p.do(http.MethodPost, own+"blackhole")
	go ask()
	p.do(http.MethodPost, "/heal")
	await(t, events, zk.StateDisconnected)
	await(t, events, zk.StateHasSession)
	<-answered
}

func TestWhatIsThere(t *testing.T) {
	t.Parallel()
	p := begin(t)
	conn, _ := p.client()
	id := fmt.Sprintf("%#x", conn.SessionID())
	_, err := conn.Create("/a", []byte("x"), 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	_, err = conn.Create("/a/b", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	_, _, _, err = conn.GetW("/a")
	require.NoError(t, err)

	nodes := get[[]nodeBody](p, "/tree?path=/a")
	require.Len(t, nodes, 2)
	require.Equal(t, "/a", nodes[0].Path)
	require.Equal(t, []byte("x"), nodes[0].Data)
	require.Equal(t, id, nodes[1].EphemeralOwner)
	require.Equal(t, []watchBody{{Session: id, Path: "/a", Kind: "data"}}, get[[]watchBody](p, "/watches?session="+id))
	require.Empty(t, get[[]watchBody](p, "/watches?session=1"))

	requests := get[[]requestBody](p, "/requests?limit=2")
	require.Len(t, requests, 2)
	require.Equal(t, "getData", requests[1].Op)
	require.Equal(t, "/a", requests[1].Path)
	after := fmt.Sprintf("/requests?after=%d", requests[0].Number)
	require.Equal(t, requests[1:], get[[]requestBody](p, after))
	require.Len(t, get[[]requestBody](p, "/requests?after=1&limit=2"), 2)

	status := get[statusBody](p, "/status")
	require.Equal(t, 1, status.Sessions)
	require.Equal(t, 1, status.Watches)
	require.Equal(t, p.addr, status.Members[0].Address)
}

func TestEnsembleIsPartitionedAndHeals(t *testing.T) {
	t.Parallel()
	p := begin(t, "-members", "3")
	require.Len(t, strings.Split(p.addr, ","), 3)
	p.client()
	leader := leaderOf(p)
	require.NotZero(t, leader)

	p.do(http.MethodPost, fmt.Sprintf("/partition?member=%d&member=%[1]d", leader))
	eventually(t, func() bool {
		now := leaderOf(p)
		return now != leader && now != 0
	})
	p.do(http.MethodPost, "/heal")
	eventually(t, func() bool { return strings.Count(modesOf(p), "follower") == 2 })

	next := leaderOf(p)
	p.do(http.MethodPost, fmt.Sprintf("/stop?member=%d", next))
	require.Equal(t, "stopped", get[statusBody](p, "/status").Members[next-1].Mode)
	p.do(http.MethodPost, fmt.Sprintf("/restart?member=%d", next))
	p.do(http.MethodPost, fmt.Sprintf("/pause?member=%d", next))
	require.Equal(t, "paused", get[statusBody](p, "/status").Members[next-1].Mode)
	p.do(http.MethodPost, fmt.Sprintf("/resume?member=%d", next))

	p.do(http.MethodPost, "/restart")
	eventually(t, func() bool { return modesOf(p) == "follower follower leader" })
}

// leaderOf returns the number of the member that leads the others.
func leaderOf(p *program) int {
	leader := get[statusBody](p, "/status").Leader
	if leader == nil {
		return 0
	}
	return *leader
}

func modesOf(p *program) string {
	var modes []string
	for _, m := range get[statusBody](p, "/status").Members {
		modes = append(modes, m.Mode)
	}
	return strings.Join(modes, " ")
}

// A page in a browser on this machine must not be able to use the remote
// control: neither from its own origin, nor by a host name that points here.
func TestWebPagesAreRefused(t *testing.T) {
	t.Parallel()
	p := begin(t)
	for name, change := range map[string]func(*http.Request){
		"origin": func(r *http.Request) { r.Header.Set("Origin", "http://example.com") },
		"host":   func(r *http.Request) { r.Host = "example.com:2180" },
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.control+"/stop", nil)
		require.NoError(t, err)
		change(req)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, http.StatusForbidden, resp.StatusCode, name)
	}
	require.Equal(t, "standalone", get[statusBody](p, "/status").Members[0].Mode)
}

// A program in another language restarts the server and ends its own session,
// and its client library sees what it would see of a real server.
func TestPythonUsesTheRemoteControl(t *testing.T) {
	t.Parallel()
	python := kazootest.Python(t)
	p := begin(t)
	cmd := exec.Command(python, "testdata/remote.py", p.addr, p.control)
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Equal(t, strings.Join([]string{
		"SUSPENDED CONNECTED", "/mine is there",
		"SUSPENDED LOST CONNECTED", "/mine is gone", "",
	}, "\n"), string(out))
}
