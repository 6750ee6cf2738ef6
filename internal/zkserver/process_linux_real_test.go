//go:build real && linux

package zkserver

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
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
