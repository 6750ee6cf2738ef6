//go:build real && linux

package zkserver

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestServerDiesWithProgram(t *testing.T) {
	t.Parallel()
	if _, err := Find(); err != nil {
		check(t, err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envHelper+"=1", "TMPDIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	addr := strings.TrimSpace(line)
	_, err = fourLetter(withTimeout(t, time.Minute), addr, "ruok")
	require.NoError(t, err)

	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	err = poll(withTimeout(t, time.Minute), nil, func(context.Context) error {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return nil
		}
		return errors.Join(errors.New("server still there"), conn.Close())
	})
	require.NoError(t, err)
}

// A pause ends with a resume of another goroutine, which may come before the
// command stands still. A pause that comes after that has a resume of its own.
func TestPauseEndsWithAResume(t *testing.T) {
	t.Parallel()
	p := startProcess(exec.Command("sleep", "1000"), filepath.Join(t.TempDir(), "log"))
	defer p.kill()
	first, err := p.pause()
	require.NoError(t, err)
	second, err := p.pause()
	require.NoError(t, err)
	require.NoError(t, p.resume())
	new(Server).awaitStopped(p, first)
	new(Server).awaitStopped(p, second)
	third, err := p.pause()
	require.NoError(t, err)
	new(Server).awaitStopped(p, third)
	require.False(t, isClosed(third), "it stands still")
	require.NoError(t, p.resume())
	require.True(t, isClosed(third))
}

func TestStandsStill(t *testing.T) {
	for stat, want := range map[string]bool{
		"7 (java) T 1":   true,
		"7 (main) Z 1":   true,
		"7 (a) T b) S 1": false,
		"7 (java) R 1":   false,
		"7 (java) D 1":   false,
		"":               false,
	} {
		require.Equal(t, want, isStopped([]byte(stat)), stat)
	}
}
