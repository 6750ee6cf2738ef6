//go:build real && unix

package child

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be a helper, or a program with a name of
// programs.
func TestMain(m *testing.M) {
	RunHelper()
	if f, ok := programs[os.Args[0]]; ok {
		f()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// programs start a command in a process of their own.
var programs = map[string]func(){
	"dies": func() {
		_, _ = Start(Command{
			Args: []string{"echo", "started"}, Env: os.Environ(),
			Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			Ready: func() error { return syscall.Kill(os.Getpid(), syscall.SIGKILL) },
		})
	},
	"nohup": func() {
		signal.Ignore(syscall.SIGHUP)
		p, err := Start(command("sh", "-c", "kill -HUP $$; echo alive"))
		if err != nil {
			panic(err)
		}
		<-p.Gone()
	},
}

func command(args ...string) Command {
	return Command{
		Args: args, Env: os.Environ(),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Ready: func() error { return nil },
	}
}

// runProgram runs a program until neither it nor anything that it has started
// is left, and returns their output.
func runProgram(t *testing.T, name string) (string, error) {
	self, err := os.Executable()
	require.NoError(t, err)
	var out bytes.Buffer // through a pipe, which all of them have open
	cmd := &exec.Cmd{Path: self, Args: []string{name}, Stdout: &out, Stderr: &out}
	err = cmd.Run()
	return out.String(), err
}

// The program dies by SIGKILL at the last moment before the command begins.
// Neither the command nor a helper remains.
func TestNothingBeginsAfterTheProgramHasDied(t *testing.T) {
	t.Parallel()
	out, err := runProgram(t, "dies")
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, syscall.SIGKILL, exit.Sys().(syscall.WaitStatus).Signal())
	require.Empty(t, out)
}

func TestStart(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
		return path
	}
	refused := errors.New("refused")
	for name, tc := range map[string]struct {
		args   []string
		ready  error
		err    error
		status int
	}{
		"its own status":      {args: []string{"sh", "-c", "exit 42"}, status: 42},
		"a script without #!": {args: []string{file("script", `exit "$1"`), "5"}, status: 5},
		"not a program":       {args: []string{file("object", "\x7fELF\x00")}, err: syscall.ENOEXEC},
		"no interpreter":      {args: []string{file("lost", "#!/no/such/interpreter\n")}, err: fs.ErrNotExist},
		"not ready":           {args: []string{"touch", filepath.Join(dir, "touched")}, ready: refused, err: refused},
	} {
		t.Run(name, func(t *testing.T) {
			c := command(tc.args...)
			c.Ready = func() error { return tc.ready }
			p, err := Start(c)
			require.ErrorIs(t, err, tc.err)
			if err != nil {
				return
			}
			ended := Ended(p.command)
			<-p.Gone()
			require.Equal(t, tc.status, p.Status())
			<-ended
		})
	}
	require.NoFileExists(t, filepath.Join(dir, "touched"))

	out, err := runProgram(t, "nohup")
	require.NoError(t, err)
	require.Equal(t, "alive\n", out, "who ignores hangups passes that on")
}
