//go:build unix

package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// life is a named pipe into which a test's command writes. It ends when the
// last process that has it open has died. zklock itself does not open it.
type life struct {
	t    *testing.T
	path string
	f    *os.File
	r    *bufio.Reader

	patience time.Duration // for a line, and for the end
}

func newLife(t *testing.T) *life {
	l := &life{t: t, path: filepath.Join(t.TempDir(), "life"), patience: patience}
	require.NoError(t, syscall.Mkfifo(l.path, 0o600))
	return l
}

// line returns the next line that the command has written. The first call
// waits until the command has opened the pipe.
func (l *life) line() string {
	l.t.Helper()
	if l.f == nil {
		f, err := os.Open(l.path)
		require.NoError(l.t, err)
		l.t.Cleanup(func() { f.Close() })
		l.f, l.r = f, bufio.NewReader(f)
	}
	require.NoError(l.t, l.f.SetReadDeadline(time.Now().Add(l.patience)))
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
	require.NoError(l.t, l.f.SetReadDeadline(time.Now().Add(l.patience)))
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
