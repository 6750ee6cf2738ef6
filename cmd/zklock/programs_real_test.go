//go:build real && linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gocurator/curator/cmd/zklock/internal/child"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/testing/zktest"
)

// zklockPath is a link to the test binary with the program's own name, under
// which the test binary is the program.
var zklockPath string

func init() {
	beProgram = func() {
		child.RunHelper()
		if filepath.Base(os.Args[0]) == "zklock" {
			os.Args = slices.Insert(os.Args, 1, "--session-timeout", longSession)
			main()
		}
		ignoreNothing()
		dir, err := os.MkdirTemp("", "zklock")
		if err == nil {
			zklockPath = filepath.Join(dir, "zklock")
			var self string
			if self, err = os.Executable(); err == nil {
				err = os.Symlink(self, zklockPath)
			}
		}
		if err != nil {
			panic(err)
		}
		closeShared = append(closeShared, func() error { return os.RemoveAll(dir) }, zkserver.CloseShared)
	}
}

// ignoreNothing has the programs of tests receive the signals that the test binary
// itself ignores, because nohup or a shell in the background has started it: Go
// passes on to programs that a signal is ignored, unless the signal is notified.
func ignoreNothing() {
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} { // Go catches all others
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}

// patience is how long a program of a test may run, and the work that it has
// started. A test that fails ends then, and does not wait for ever.
const patience = 2 * time.Minute

// patiently returns a program that is killed when the test has no more patience.
func patiently(t *testing.T, name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = patience
	return cmd
}

// longSession is the session timeout of the programs that tests start, unless
// they say another. They keep their locks then while a busy machine keeps them
// waiting, or while a test has stopped them.
const longSession = "1m"

func startServer(t *testing.T) *zktest.Server {
	return zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
}

// process is a zklock that runs.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *text
}

// addr has the address of a server.
type addr interface{ Addr() string }

// newZklock returns a zklock that is not started, and whose output goes
// nowhere.
func newZklock(t *testing.T, srv addr, args ...string) *program {
	t.Helper()
	p := &program{t: t, cmd: patiently(t, zklockPath, args...), stdout: bufio.NewReader(strings.NewReader("")), stderr: &text{}}
	p.cmd.Env = append(os.Environ(), "ZKLOCK_SERVERS="+srv.Addr(), "GORACE=atexit_sleep_ms=0")
	var err error
	p.stdin, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	return p
}

func (p *program) start() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Start())
	p.t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			p.cmd.Process.Kill()
			p.cmd.Wait()
		}
	})
}

// startZklock starts a zklock.
func startZklock(t *testing.T, srv addr, args ...string) *program {
	t.Helper()
	p := newZklock(t, srv, args...)
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
func (p *program) line() string {
	p.t.Helper()
	line, err := p.stdout.ReadString('\n')
	require.NoError(p.t, err, "stderr: %s", p.stderr)
	return strings.TrimSuffix(line, "\n")
}

// wait returns the exit status, and what is left of the output.
func (p *program) wait() (status int, out string) {
	p.t.Helper()
	p.stdin.Close()
	rest, err := io.ReadAll(p.stdout)
	require.NoError(p.t, err)
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode(), string(rest)
}

// finish is wait for a process that is expected to end with a status.
func (p *program) finish(status int) (out string) {
	p.t.Helper()
	got, out := p.wait()
	require.Equal(p.t, status, got, "stdout: %s\nstderr: %s", out, p.stderr)
	return out
}

// life is a named pipe into which a test's command writes. It ends when the
// last process that has it open has died. zklock itself does not open it.
type life struct {
	t    *testing.T
	path string
	f    *os.File
	r    *bufio.Reader
}

func newLife(t *testing.T) *life {
	l := &life{t: t, path: filepath.Join(t.TempDir(), "life")}
	require.NoError(t, syscall.Mkfifo(l.path, 0o600))
	return l
}

// line returns the next line that the command has written. The first call
// waits until the command has opened the pipe, or the test has no more patience.
func (l *life) line() string {
	l.t.Helper()
	if l.f == nil {
		late := time.AfterFunc(patience, func() {
			if w, err := os.OpenFile(l.path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
				w.Close() // the reader gets io.EOF
			}
		})
		f, err := os.Open(l.path)
		late.Stop()
		require.NoError(l.t, err)
		l.t.Cleanup(func() { f.Close() })
		require.NoError(l.t, f.SetReadDeadline(time.Now().Add(patience)))
		l.f, l.r = f, bufio.NewReader(f)
	}
	line, err := l.r.ReadString('\n')
	require.NoError(l.t, err)
	return strings.TrimSpace(line)
}

// over reports, without waiting, whether all processes have died.
func (l *life) over() bool {
	raw, err := l.f.SyscallConn()
	require.NoError(l.t, err)
	var ended bool
	require.NoError(l.t, raw.Read(func(fd uintptr) bool {
		buf := make([]byte, 1024)
		for {
			n, err := syscall.Read(int(fd), buf)
			if n <= 0 && !errors.Is(err, syscall.EINTR) {
				ended = n == 0 && err == nil
				return true
			}
		}
	}))
	return ended
}

// end waits until all processes have died.
func (l *life) end() {
	l.t.Helper()
	for {
		_, err := l.r.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(l.t, err, "processes are left")
	}
}

// stubborn is a script that says "ready" and does not end at TERM: it says so,
// and goes on. If a test has failed, it ends when the pipe is removed.
const stubborn = `exec >"$0"; trap "echo TERM" TERM; echo ready; while [ -p "$0" ]; do sleep 1 & wait $!; done`

// nested is stubborn with a shell in between, which ends at TERM.
const nested = `sh -c '` + stubborn + `' "$0"; true`

// tty is a terminal with somebody at it.
type tty struct {
	t      *testing.T
	master *os.File
	r      *bufio.Reader
	cmd    *exec.Cmd
}

// startOnTerminal starts a program as the first one on a new terminal. It must
// not end before the test has seen all of its output: what is still on its way
// when the last program of a terminal ends can get lost in the kernel.
func startOnTerminal(t *testing.T, srv *zktest.Server, name string, args ...string) *tty {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	master := os.NewFile(uintptr(fd), "ptmx")
	t.Cleanup(func() { master.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	defer slave.Close()
	cmd := patiently(t, name, args...)
	cmd.Env = append(os.Environ(), "ZKLOCK_SERVERS="+srv.Addr(), "ZKLOCK="+zklockPath,
		"GORACE=atexit_sleep_ms=0", "PS1=prompt\n", "TERM=dumb")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	return &tty{t, master, bufio.NewReader(master), cmd}
}

// keys types something.
func (y *tty) keys(s string) {
	y.t.Helper()
	_, err := y.master.WriteString(s)
	require.NoError(y.t, err)
}

// see waits for a line that ends with want.
func (y *tty) see(want string) {
	y.t.Helper()
	var seen strings.Builder
	for {
		line, err := y.r.ReadString('\n')
		seen.WriteString(line)
		if err != nil {
			require.NoError(y.t, err, "after: %q; the first program: %v", &seen, y.cmd.Wait())
		}
		if strings.HasSuffix(strings.TrimRight(line, "\r\n"), want) {
			return
		}
	}
}

// holdUpRelease has the server keep a zklock waiting that deletes a node, until
// the test calls goOn. So the program stays on its terminal.
func holdUpRelease(t *testing.T, srv *zktest.Server, node string) (goOn func()) {
	t.Helper()
	seen := make(chan struct{})
	goOn = sync.OnceFunc(func() { close(seen) })
	t.Cleanup(goOn)
	release := srv.Inject(zktest.Rule{Op: zktest.OpDelete, Path: node, Do: zktest.Call(func(zktest.Request) { <-seen })})
	t.Cleanup(func() { require.Equal(t, 1, release.Hits()) })
	return goOn
}

const (
	ctrlC = "\x03"
	ctrlZ = "\x1a"
)

// startShell starts a shell with job control on a terminal, on which all is
// killed in the end.
func startShell(t *testing.T, srv *zktest.Server) *tty {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	y := startOnTerminal(t, srv, bash, "--norc", "--noprofile", "--noediting", "-i")
	session := strconv.Itoa(y.cmd.Process.Pid)
	killAll := func() {
		for pid, stat := range processes(t) {
			if stat[3] == session {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	t.Cleanup(killAll)
	y.see("prompt")
	return y
}

func kill(t *testing.T, pid int) { require.NoError(t, syscall.Kill(pid, syscall.SIGKILL)) }

// onlyChild returns the only child of a process.
func onlyChild(t *testing.T, parent int) (pid int) {
	for id, stat := range processes(t) {
		if stat[1] == strconv.Itoa(parent) {
			require.Zero(t, pid, "there are two")
			pid = id
		}
	}
	require.NotZero(t, pid)
	return pid
}

// betweenLooks is the pause between two calls of processes. The system does not
// tell a test that a process has stopped, or was reaped, if that is not its child:
// a pidfd tells of its end alone. So the test has to look again and again, and in
// real time, as these are real processes. Without a pause it would take a whole
// processor from those that it waits for.
func betweenLooks() { time.Sleep(50 * time.Millisecond) }

// processes returns what the system tells of all processes; see proc(5). The
// fields begin with the third one.
func processes(t *testing.T) map[int][]string {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	all := map[int][]string{}
	for _, name := range files {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it is gone
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		require.NoError(t, err)
		_, rest, _ := strings.Cut(string(stat), ") ")
		all[pid] = strings.Fields(rest)
	}
	return all
}
