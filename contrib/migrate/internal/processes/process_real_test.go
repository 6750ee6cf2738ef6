//go:build real

package processes

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// process is a replica as the test sees it.
type process struct {
	session int64 // the id of its client's session

	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// zooKeeper is a fake server, or a real one.
type zooKeeper interface{ Addr() string }

// start starts a replica that migrates the database with a library. The rest of
// args is for its work.
func start(t *testing.T, srv zooKeeper, library string, d store, args ...string) *process {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(program, append([]string{command, srv.Addr(), library, d.kind, d.dsn}, args...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := &process{cmd: cmd, in: in, out: bufio.NewScanner(out)}
	t.Cleanup(p.kill)
	_, err = fmt.Sscanf(p.hear(t), "session %d", &p.session)
	require.NoError(t, err)
	return p
}

// kill ends a process that a test has left behind.
func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
}

// hear returns the next line that the replica tells.
func (p *process) hear(t *testing.T) string {
	t.Helper()
	require.True(t, p.out.Scan(), "the replica has ended")
	return p.out.Text()
}

// goOn ends a wait of the replica: at once, or as soon as it knows that its session
// is lost.
func (p *process) goOn(t *testing.T, when string) {
	t.Helper()
	_, err := fmt.Fprintln(p.in, when)
	require.NoError(t, err)
}

// end waits for the end of the replica, which has told all that it tells.
func (p *process) end(t *testing.T) {
	t.Helper()
	require.False(t, p.out.Scan(), "it tells %q", p.out.Text())
	require.NoError(t, p.cmd.Wait())
}
