package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/cmd/zklock/internal/child"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// program is a link to the test binary with the program's own name, under
// which the test binary is the program.
var program string

func TestMain(m *testing.M) {
	child.RunHelper()
	if filepath.Base(os.Args[0]) == "zklock" {
		os.Args = slices.Insert(os.Args, 1, "--session-timeout", longSession)
		main()
	}
	for _, name := range []string{"ZKLOCK_SERVERS", "ZOOKEEPER_SERVERS", "ZKLOCK_FD"} {
		os.Unsetenv(name)
	}
	hearSignals()
	dir, err := os.MkdirTemp("", "zklock")
	if err == nil {
		program = filepath.Join(dir, "zklock")
		var self string
		if self, err = os.Executable(); err == nil {
			err = os.Symlink(self, program)
		}
	}
	if err != nil {
		panic(err)
	}
	atOnce := 12
	if thorough.All() { // beside many other tests
		atOnce = 6
	}
	thorough.Parallel(atOnce)
	leaktest.Main(m, func() error { return os.RemoveAll(dir) }, zkserver.CloseShared)
}

// longSession is the session timeout of the programs that tests start, unless
// they say another. They keep their locks then while a busy machine keeps them
// waiting, or while a test has stopped them: no test waits as long for anything.
const longSession = "1m"

// hearSignals lets programs that the tests start have signals that these tests
// ignore, as under nohup(1) or in the background of a script: a child inherits
// that a signal is ignored, but not that it is handled.
func hearSignals() {
	for _, sig := range child.Forwarded {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}

// patience is how long a test waits for what must happen. It is for machines
// that are very busy.
var patience = thorough.Patience(45 * time.Second)

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func startServer(t *testing.T) *zktest.Server {
	return zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
}

// process is a zklock that runs.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *safeBuffer
}

// safeBuffer is a buffer that a process writes and a test reads.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// addr is that of a server.
type addr interface{ Addr() string }

// newProcess returns a zklock that is not started, and whose output goes
// nowhere.
func newProcess(t *testing.T, srv addr, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(program, args...), stdout: bufio.NewReader(strings.NewReader("")), stderr: &safeBuffer{}}
	p.cmd.Env = append(os.Environ(), "ZKLOCK_SERVERS="+srv.Addr(), "GORACE=atexit_sleep_ms=0")
	p.cmd.WaitDelay = patience
	var err error
	p.stdin, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	return p
}

func (p *process) start() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Start())
	p.t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			p.cmd.Process.Kill()
			p.cmd.Wait()
		}
	})
}

// startProcess starts a zklock.
func startProcess(t *testing.T, srv addr, args ...string) *process {
	t.Helper()
	p := newProcess(t, srv, args...)
	// Not StdoutPipe: Wait would close it before all is read.
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	p.cmd.Stdout, p.stdout, p.cmd.Stderr = w, bufio.NewReader(r), p.stderr
	p.start()
	w.Close()
	return p
}

// line returns the next line of output.
func (p *process) line() string {
	p.t.Helper()
	line, err := p.stdout.ReadString('\n')
	require.NoError(p.t, err, "stderr: %s", p.stderr)
	return strings.TrimSuffix(line, "\n")
}

// wait returns the exit status, and what is left of the output.
func (p *process) wait() (status int, out string) {
	p.t.Helper()
	p.stdin.Close()
	rest, err := io.ReadAll(p.stdout)
	require.NoError(p.t, err)
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode(), string(rest)
}

// finish is wait for a process that is expected to end with a status.
func (p *process) finish(status int) (out string) {
	p.t.Helper()
	got, out := p.wait()
	require.Equal(p.t, status, got, "stdout: %s\nstderr: %s", out, p.stderr)
	return out
}

// zklock runs a command line to its end.
func zklock(t *testing.T, srv addr, status int, args ...string) (stdout, stderr string) {
	t.Helper()
	p := startProcess(t, srv, args...)
	out := p.finish(status)
	return out, p.stderr.String()
}

// hold holds a mutex until the test ends, or release is called.
func hold(t *testing.T, srv *zktest.Server, path string) (lease *locks.Lease, release func()) {
	t.Helper()
	c := curatortest.Connect(t, srv, framework.WithServiceName("the-test"))
	lease, err := locks.NewInterProcessMutex(c, path).Acquire(bounded(t))
	require.NoError(t, err)
	return lease, func() { require.NoError(t, lease.Release(bounded(t))) }
}

// deadServer is where nobody listens.
type deadServer struct{}

func (deadServer) Addr() string { return "127.0.0.1:1" }
