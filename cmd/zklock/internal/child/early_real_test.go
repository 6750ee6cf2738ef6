//go:build real && linux

package child

import (
	"bufio"
	"io"
	"io/fs"
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

// pipe is a pipe whose writing end is for a command.
func pipe(t *testing.T) (r *bufio.Reader, w *os.File) {
	t.Helper()
	from, to, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { from.Close(); to.Close() })
	return bufio.NewReader(from), to
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

// newestGuard returns the guard that this process has started last.
func newestGuard(t *testing.T) int {
	t.Helper()
	children.mu.Lock()
	defer children.mu.Unlock()
	newest := 0
	var began uint64
	for pid := range children.own {
		if start, err := startOf(pid); err == nil && start >= began && pid > newest {
			newest, began = pid, start
		}
	}
	require.NotZero(t, newest, "there is no guard")
	return newest
}

// startAlone has a guard start a script, as Start does, for which no owner is
// there.
func startAlone(t *testing.T, script string, out *os.File) (g *guard, command int) {
	t.Helper()
	adoptOrphans()
	g, err := startGuard([]*os.File{os.Stdin, out, os.Stderr})
	require.NoError(t, err)
	require.Equal(t, report{Kind: saysReady}, <-g.reports)
	path, err := exec.LookPath("sh")
	require.NoError(t, err)
	args := raw([]string{"sh", "-c", script})
	g.tell(order{Start: &program{[]byte(path), args, raw(os.Environ()), false}})
	begun := <-g.reports
	require.Equal(t, saysStarted, begun.Kind)
	return g, begun.N
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
		return syscall.Kill(newestGuard(t), syscall.SIGSTOP)
	}
	_, err := Start(c)
	require.ErrorIs(t, err, ErrCanceled)
	require.NoFileExists(t, file)
	require.Eventually(t, func() bool {
		stacks := make([]byte, 1<<20)
		return !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "child.Ended")
	}, 5*time.Second, 10*time.Millisecond, "nobody waits for the end of a command that has not begun")
}

// The guard dies when the command has begun, and before it could tell. What
// the command has started by then is ended.
func TestNothingIsLeftOfAStartWithoutAGuard(t *testing.T) {
	r, w := pipe(t)
	g, _ := startAlone(t, "setsid sh -c 'echo 1; exec sleep 1000' & wait", w)
	w.Close()
	require.Equal(t, 1, numberIn(t, r))
	g.proc.kill()
	for range g.reports { // until it has died
	}
	p := newProcess()
	newOwner(p, g).untilGone()
	_, err := r.ReadByte()
	require.ErrorIs(t, err, io.EOF, "something of the command is left")
	g.dismiss()
}

// A guard that was stopped tells the command's end and its status all the same,
// and is dismissed.
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
	<-p.Gone()
	require.Equal(t, 7, p.Status())
	require.False(t, p.GuardDied())

	g, _ := startAlone(t, "exit 0", os.Stdout)
	g.signal(syscall.SIGSTOP)
	g.dismiss() // returns when the guard has ended
	_, err = startOf(g.proc.pid)
	require.ErrorIs(t, err, fs.ErrNotExist)
}
