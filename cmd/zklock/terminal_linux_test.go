package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gocurator/curator/testing/zktest"
)

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
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "ZKLOCK_SERVERS="+srv.Addr(), "ZKLOCK="+program,
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

func TestTheCommandHasTheTerminal(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	y := startOnTerminal(t, srv, program, "run", "/l", "--", "sh", "-c",
		`trap 'echo interrupted; exit 8' INT; echo ready; read x; echo "got $x"; while :; do sleep 1 & wait $!; done`)
	y.see("ready")
	goOn := holdUpRelease(t, srv, srv.Queue("/l")[0].Path)
	y.keys("hello\n")
	y.see("got hello")
	y.keys(ctrlC)
	y.see("interrupted")
	goOn()
	require.ErrorContains(t, y.cmd.Wait(), "exit status 8")
}

// The terminal goes to the command before the system finds that it cannot run
// it. A program without a shell around it must get the terminal back by itself.
func TestTheTerminalComesBack(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	script := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(script, []byte("\x7fELF\x00"), 0o700))
	for _, command := range []string{script, "true"} {
		y := startOnTerminal(t, srv, "sh", "-c", `"$ZKLOCK" run /l "$0"; echo "status $?"; read x; echo "got $x"; read x`, command)
		if command == script {
			y.see("status 126")
		} else {
			y.see("status 0")
		}
		y.keys("hello\n")
		y.see("got hello")
		y.keys("\n")
		require.NoError(t, y.cmd.Wait())
	}
}

// A shell with job control starts zklock in the background, where its command
// wants to read, and brings it to the foreground, and stops it, and so on.
func TestJobControl(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	t.Parallel()
	srv := startServer(t)
	y := startOnTerminal(t, srv, bash, "--norc", "--noprofile", "--noediting", "-i")
	y.see("prompt")
	y.keys(`"$ZKLOCK" run /l -- sh -c 'echo read""y; read x; echo "got <$x>"; read x; echo "then <$x>"; exit 5'` + "\n")
	y.see("ready")
	y.keys("one\n")
	y.see("got <one>")
	y.keys(ctrlZ)
	y.see("prompt") // the shell has the terminal
	y.keys("echo a sh\"\"ell\n")
	y.see("a shell")
	require.Len(t, srv.Children("/l"), 1)
	y.keys("fg\n")
	y.see("exit 5'") // the shell repeats the command line
	y.keys("two\n")
	y.see("then <two>")
	y.see("prompt")
	y.keys("echo status $?.\n")
	y.see("status 5.")
	y.keys("exit\n")
	require.NoError(t, y.cmd.Wait())
}

// The lock is lost while the whole job is stopped. The command must not do
// anything more.
func TestALossWhileTheJobIsStopped(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	t.Parallel()
	srv := startServer(t)
	l := newLife(t)
	y := startOnTerminal(t, srv, bash, "--norc", "--noprofile", "--noediting", "-i")
	y.see("prompt")
	y.keys(`"$ZKLOCK" run /l -- sh -c 'trap "" TERM; exec 3>` + l.path + `; echo ready >&3; read x; echo went on >&3'` + "\n")
	require.Equal(t, "ready", l.line())
	y.keys(ctrlZ)
	y.see("prompt")
	require.NoError(t, srv.Delete(srv.Queue("/l")[0].Path))
	y.keys("fg\n\n") // the second line is for the command
	y.see("the command was stopped")
	_, err = l.r.ReadString('\n')
	require.ErrorIs(t, err, io.EOF, "the command went on without the lock")
	y.keys("exit\n")
	_ = y.cmd.Wait()
}

// The command has the terminal, which stops those in the background that write
// to it. A note of zklock's does not stop zklock: it sees the loss.
func TestANoteIsNoReasonToStop(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	t.Parallel()
	srv := startServer(t)
	l := newLife(t)
	y := startOnTerminal(t, srv, bash, "--norc", "--noprofile", "--noediting", "-i")
	y.see("prompt")
	y.keys(`stty tostop; "$ZKLOCK" run -v /l -- sh -c 'exec 3>` + l.path +
		`; trap "echo USR1 >&3" USR1; echo $PPID >&3; while :; do sleep 1 & wait $!; done'` + "\n")
	inner, err := strconv.Atoi(l.line())
	require.NoError(t, err)
	zklock := parentOf(t, parentOf(t, inner))   // of both guards
	late := time.AfterFunc(patience/3, func() { // there is nothing more to see then
		syscall.Kill(zklock, syscall.SIGKILL)
		y.cmd.Process.Kill()
	})
	defer late.Stop()
	for range 3 {
		require.NoError(t, syscall.Kill(zklock, syscall.SIGUSR1))
		require.Equal(t, "USR1", l.line())
		y.see("forwarding user defined signal 1")
	}
	require.NoError(t, srv.Delete(srv.Queue("/l")[0].Path))
	l.end()
	y.see("the command was stopped")
	y.keys("exit\n")
	_ = y.cmd.Wait()
}

// parentOf returns the parent of a process.
func parentOf(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(status), "PPid:")
	require.True(t, found)
	parent, err := strconv.Atoi(strings.Fields(after)[0])
	require.NoError(t, err)
	return parent
}

func TestABackgroundCommandGetsTheTerminalInTheForeground(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	t.Parallel()
	srv := startServer(t)
	y := startOnTerminal(t, srv, bash, "--norc", "--noprofile", "--noediting", "-i")
	y.see("prompt")
	y.keys("set -b; \"$ZKLOCK\" run /l -- sh -c 'echo read\"\"y; read x; echo \"got <$x>\"' &\n")
	y.see("ready")
	// The shell tells that the job is stopped. As long as it does not know, fg
	// would not continue the job.
	y.see("got <$x>\"'")
	y.keys("fg\n")
	y.see("got <$x>\"'") // the shell repeats the command line
	y.keys("three\n")
	y.see("got <three>")
	y.keys("exit\n")
	_ = y.cmd.Wait()
}

// The command wants to read from a terminal that it does not get: zklock is in
// the background, and whoever has started it there is gone. A script between them
// changes nothing. The command tries again and again, and asks no server each time.
func TestACommandThatNobodyGivesTheTerminal(t *testing.T) {
	for name, form := range map[string]string{
		"alone":           `(%s &)`,
		"behind a script": `(sh -c '%s; true' &)`,
		"behind two":      `(sh -c 'sh -c "$0; true"; true' '%s' &)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := startServer(t)
			_, release := hold(t, srv, "/l")
			l := newLife(t)
			script := filepath.Join(t.TempDir(), "script")
			require.NoError(t, os.WriteFile(script, []byte(`exec 3>`+l.path+
				`; trap "echo CONT >&3" CONT; echo $$ >&3; while :; do read x </dev/tty; done`), 0o600))
			y := startShell(t, srv)
			y.keys(fmt.Sprintf(form, `"$ZKLOCK" run /l -- sh `+script) + "\n")
			y.see("prompt") // the shell has the terminal
			require.NoError(t, srv.WaitChildren(bounded(t), "/l", 2))
			release()
			command, err := strconv.Atoi(l.line())
			require.NoError(t, err)
			zklock := parentOf(t, parentOf(t, parentOf(t, command))) // of both guards
			require.Equal(t, "CONT", l.line())
			require.Zero(t, srv.CountRequests(zktest.OpMulti))
			require.NoError(t, syscall.Kill(zklock, syscall.SIGTERM))
			l.end()
		})
	}
}

// The command was asked for the lock, so that zklock does not stop with it any
// more, and wants to read in the background. It gets the terminal when zklock
// does.
func TestACommandThatWasAskedGetsTheTerminal(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	l := newLife(t)
	y := startShell(t, srv)
	y.keys(`"$ZKLOCK" run /l -- sh -c 'trap "echo TERM; read x </dev/tty; echo got \$x; exit" TERM; ` +
		`exec >"$0"; echo $$; while :; do sleep 1 & wait $!; done' ` + l.path + " &\n")
	command, err := strconv.Atoi(l.line())
	require.NoError(t, err)
	zklock(t, srv, 0, "revoke", "/l")
	require.Equal(t, "TERM", l.line())
	awaitState(t, command, "T", true)
	y.keys("fg\n")
	y.see(l.path) // the shell repeats the command line
	y.keys("hello\n")
	require.Equal(t, "got hello", l.line())
	l.end()
}

// The command was asked for the lock, and somebody stops it: it wants nothing that
// it could get by going on.
func TestACommandThatSomebodyStopsStaysStopped(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	l := newLife(t)
	y := startShell(t, srv)
	y.keys(`"$ZKLOCK" run /l -- sh -c 'trap "echo TERM" TERM; trap "echo CONT" CONT; ` +
		`exec >"$0"; echo $$; while :; do sleep 1 & wait $!; done' ` + l.path + " &\n")
	command, err := strconv.Atoi(l.line())
	require.NoError(t, err)
	zklock(t, srv, 0, "revoke", "/l")
	require.ElementsMatch(t, []string{"TERM", "CONT"}, []string{l.line(), l.line()})
	require.NoError(t, syscall.Kill(command, syscall.SIGSTOP))
	awaitState(t, command, "T", true)
	time.Sleep(2 * time.Second) // twice the pause before a new try
	stat, ok := processes(t)[command]
	require.True(t, ok)
	require.Equal(t, "T", stat[0])
	require.NoError(t, syscall.Kill(command, syscall.SIGKILL))
	l.end()
}

// The line of progress is there while somebody waits, and is removed.
func TestATerminalShowsTheQueue(t *testing.T) {
	t.Parallel()
	srv := startServer(t)
	_, release := hold(t, srv, "/l")
	y := startOnTerminal(t, srv, program, "run", "/l", "--", "echo", "done")
	var seen strings.Builder
	for !strings.Contains(seen.String(), ", waiting for ") {
		b, err := y.r.ReadByte()
		require.NoError(t, err)
		seen.WriteByte(b)
	}
	require.Contains(t, seen.String(), "\r\x1b[K/l: 1 ahead, held by the-test@")
	goOn := holdUpRelease(t, srv, srv.Queue("/l")[1].Path)
	release()
	y.see("\r\x1b[Kdone")
	goOn()
	require.NoError(t, y.cmd.Wait())
}
