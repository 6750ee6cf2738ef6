//go:build real

package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

func init() {
	beProgram = func() {
		if os.Getenv("ZKFAKE_ARGS") != "" {
			os.Args = append(os.Args[:1], strings.Fields(os.Getenv("ZKFAKE_ARGS"))...)
			main()
		}
	}
}

type discardLogger struct{}

func (discardLogger) Printf(string, ...any) {}

// startProcess runs the program as a process and returns its address. The
// function end sends a signal, waits for the process to end and returns its
// output after the first line.
func startProcess(t *testing.T, args string) (addr string, end func(os.Signal) string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ZKFAKE_ARGS="+args, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = t.Output()
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() }) // in case that it has not ended
	r := bufio.NewReader(stdout)
	first, err := r.ReadString('\n')
	require.NoError(t, err)
	addr, ready := strings.CutPrefix(strings.TrimSpace(first), "listening on ")
	require.True(t, ready, first)
	return addr, func(sig os.Signal) string {
		require.NoError(t, cmd.Process.Signal(sig))
		rest, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, cmd.Wait(), "the exit status is 0")
		return string(rest)
	}
}

func connect(t *testing.T, addr string) (conn *zk.Conn, end func()) {
	t.Helper()
	conn, events, err := zk.Connect([]string{addr}, time.Minute, zk.WithLogger(discardLogger{}))
	require.NoError(t, err)
	return conn, func() {
		conn.Close()
		for range events {
		}
	}
}

func TestServesAndSumsUp(t *testing.T) {
	t.Parallel()
	if len(signals) == 0 {
		t.Skip("no signals on this system")
	}
	for name, sig := range signals {
		t.Run(name, func(t *testing.T) {
			addr, stop := startProcess(t, "-listen 127.0.0.1:0")
			conn, end := connect(t, addr)
			_, err := conn.Create("/a", nil, 0, zk.WorldACL(zk.PermAll))
			require.NoError(t, err)
			_, err = conn.Create("/e", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
			require.NoError(t, err)
			_, _, events, err := conn.GetW("/a")
			require.NoError(t, err)
			_, err = conn.Set("/a", []byte("x"), 0)
			require.NoError(t, err)
			require.Equal(t, zk.EventNodeDataChanged, (<-events).Type)
			_, _, _, err = conn.ExistsW("/b")
			require.NoError(t, err)

			out := stop(sig)
			end()
			for _, want := range []string{
				"create    2\n", "getData   1\n", "connect   1\n", "total     6\n", "watch events sent: 1\n",
				"sessions left: 1 (ephemeral nodes: 1, watches: 1)\n", "nodes left: 2\n",
			} {
				require.Contains(t, out, want)
			}
		})
	}
}

func TestListensOnLoopbackUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan int)
	go func() {
		status := run(ctx, []string{"-listen", ":0"}, w, t.Output())
		w.Close()
		ended <- status
	}()
	lines := bufio.NewReader(r)
	first, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, first, "listening on 127.0.0.1:")
	cancel()
	_, err = io.Copy(io.Discard, lines)
	require.NoError(t, err)
	require.Equal(t, done, <-ended)
}

func TestBehavesAsTheOlderVersion(t *testing.T) {
	t.Parallel()
	for version, args := range map[string][]string{"3.9.3": nil, "3.8.0": {"-version", "3.8.0"}} {
		p := begin(t, args...)
		nc, err := net.Dial("tcp", p.addr)
		require.NoError(t, err)
		_, err = nc.Write([]byte("srvr"))
		require.NoError(t, err)
		answer, err := io.ReadAll(nc)
		require.NoError(t, err)
		require.NoError(t, nc.Close())
		require.Contains(t, string(answer), "version: "+version)
	}
}

func TestExits(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(t.Context(), []string{"-listen", "127.0.0.1:0", "-control", "127.0.0.1:0"}, w, t.Output())
		w.Close()
	}()
	out := bufio.NewReader(r)
	line(t, out, "listening on ")
	p := &program{t: t, control: line(t, out, "control on ")}
	p.do(http.MethodPost, "/exit")
	http.DefaultClient.CloseIdleConnections()
	rest, err := io.ReadAll(out)
	require.NoError(t, err)
	require.Contains(t, string(rest), "served for")
	require.Equal(t, done, <-ended)
}
