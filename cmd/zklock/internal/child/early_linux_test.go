package child

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// newestInnerGuard returns the guard below a guard of this process that began
// last. This process adopts what others leave behind, so that guards of earlier
// tests may be about to end.
func newestInnerGuard(t *testing.T) int {
	t.Helper()
	all, complete := theProcfs.all()
	require.True(t, complete)
	isGuard := func(pid int) bool {
		name, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		return strings.HasPrefix(string(name), guardName+"\x00")
	}
	var newest process
	for _, p := range all {
		if all[p.parent].parent == os.Getpid() && isGuard(p.parent) && isGuard(p.pid) && p.start >= newest.start {
			newest = p
		}
	}
	require.NotZero(t, newest.pid, "there is no such guard")
	return newest.pid
}

// pipe is a pipe whose writing end is for a command.
func pipe(t *testing.T) (r *bufio.Reader, w *os.File) {
	t.Helper()
	from, to, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, from.SetReadDeadline(time.Now().Add(patience)))
	t.Cleanup(func() { from.Close(); to.Close() })
	return bufio.NewReader(from), to
}

// await waits until something is so.
func await(t *testing.T, isSo func() bool) {
	t.Helper()
	for begin := time.Now(); !isSo(); runtime.Gosched() {
		require.Less(t, time.Since(begin), patience)
	}
}

// numberIn returns the number in the next line.
func numberIn(t *testing.T, r *bufio.Reader) int {
	t.Helper()
	line, err := r.ReadString('\n')
	require.NoError(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	return n
}

// The system takes for ever to begin the command, here because the guard has
// stopped, and does not even read what to start. A start that is canceled ends
// all the same.
func TestAStartThatHangsCanBeCanceled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	canceled := make(chan struct{})
	c := command("touch", file)
	c.Env = append(os.Environ(), "X="+strings.Repeat("x", 100_000)) // more than a pipe takes
	c.Cancel = canceled
	c.Ready = func() error {
		defer close(canceled)
		return syscall.Kill(newestInnerGuard(t), syscall.SIGSTOP)
	}
	_, err := Start(c)
	require.ErrorIs(t, err, ErrCanceled)
	require.NoFileExists(t, file)
}

// startInnerAlone has guards start a script, as Start does.
func startInnerAlone(t *testing.T, script string, out *os.File) (g *guards, command int) {
	t.Helper()
	adoptOrphans()
	g, err := startGuards([]*os.File{os.Stdin, out, os.Stderr})
	require.NoError(t, err)
	ready := <-g.events
	require.Equal(t, guardReady, ready.Kind)
	g.meetInner(ready.N)
	path, err := exec.LookPath("sh")
	require.NoError(t, err)
	args := raw([]string{"sh", "-c", script})
	tell(g.toInner, order{Start: &program{[]byte(path), args, raw(os.Environ()), false}})
	begun := <-g.events
	require.Equal(t, commandStarted, begun.Kind)
	return g, begun.N
}

// The inner guard dies when the command has begun, and before it could tell. What
// the command has started by then is ended.
func TestNothingIsLeftOfAStartWithoutAGuard(t *testing.T) {
	r, w := pipe(t)
	g, _ := startInnerAlone(t, "setsid sh -c 'echo 1; exec sleep 1000' & wait", w)
	w.Close()
	require.Equal(t, 1, numberIn(t, r))
	require.NoError(t, syscall.Kill(g.inner, syscall.SIGKILL))
	for range g.events { // until it has died
	}
	p := &Process{exited: make(chan struct{}), gone: make(chan struct{})}
	p.asked, p.endForwarding = make(chan request), func() {}
	p.endEarly(g)
	_, err := r.ReadByte()
	require.ErrorIs(t, err, io.EOF, "something of the command is left")
	g.dismiss()
}

// Somebody has stopped the inner guard. The command's end is its end all the
// same, with its own status.
func TestAGuardThatWasStoppedTellsTheStatus(t *testing.T) {
	r, w := pipe(t)
	input, toCommand, err := os.Pipe()
	require.NoError(t, err)
	c := command("sh", "-c", "echo $PPID; read x; exit 7")
	c.Stdin, c.Stdout = input, w
	p, err := Start(c)
	require.NoError(t, err)
	input.Close()
	require.NoError(t, syscall.Kill(numberIn(t, r), syscall.SIGSTOP))
	toCommand.Close()
	select {
	case <-p.Gone():
	case <-time.After(patience):
		t.Fatal("nobody tells of the end")
	}
	require.Equal(t, 7, p.Status())
	require.False(t, p.GuardDied())
}

// One guard has died, and somebody has stopped the other one. It is dismissed
// all the same.
func TestAStoppedGuardIsDismissed(t *testing.T) {
	t.Parallel() // it takes as long as the patience with a guard
	g, _ := startInnerAlone(t, "exit 0", os.Stdout)
	require.NoError(t, syscall.Kill(g.inner, syscall.SIGSTOP))
	g.proc.kill()
	<-g.proc.ended
	g.dismiss()
	await(t, func() bool {
		p, ok := readProcess(g.inner)
		return !ok || p.dead
	})
}

// More is told than anybody hears. A dismissal leaves nobody behind who waits to
// be heard.
func TestADismissalHearsAllThatIsTold(t *testing.T) {
	r, w := pipe(t)
	g, _ := startInnerAlone(t, "i=0; while [ $i -lt 40 ]; do i=$((i+1)); (setsid true &); done; echo 1; exec sleep 1000", w)
	require.Equal(t, 1, numberIn(t, r))
	await(t, func() bool { return len(g.events) == cap(g.events) })
	g.dismiss()
	_, open := <-g.events
	require.False(t, open)
}

// The outer guard knows the command as soon as it is told of it, and forgets its
// group when that has ended: the id may be that of another by and by.
func TestTheOuterGuardForgetsAGroupThatHasEnded(t *testing.T) {
	cmd := exec.Command("cat")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	g := &outer{inner: &ownChild{pid: os.Getpid()}}
	tellOuter := func(o order) {
		text, err := json.Marshal(o)
		require.NoError(t, err)
		var got order
		require.NoError(t, json.Unmarshal(text, &got))
		g.learn(got)
	}
	tellOuter(order{Command: cmd.Process.Pid})
	began, ok := readProcess(cmd.Process.Pid)
	require.True(t, ok)
	require.Equal(t, began.start, g.family.after)
	tellOuter(order{Ended: true})
	require.True(t, g.family.group.exists(), "somebody is left in the group")
	input.Close()
	require.NoError(t, cmd.Wait())
	tellOuter(order{Ended: true})
	require.Zero(t, g.family.group.id.Load())
}
