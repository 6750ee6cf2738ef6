//go:build real && unix

package child

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

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
	"dies in the grace": func() {
		ready, out, err := os.Pipe()
		if err != nil {
			panic(err)
		}
		c := command("sh", "-c", `trap "" TERM; echo ready; exec sleep 1000`)
		c.Stdout, c.Grace = out, time.Hour
		p, err := Start(c)
		if err != nil {
			panic(err)
		}
		if _, err := ready.Read(make([]byte, 1)); err != nil {
			panic(err)
		}
		for range 7 { // the owner is busy
			p.ask(request{do: askedToPause, done: make(chan bool, 1)})
			p.ask(request{do: askedToResume})
		}
		p.BeginGrace()
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
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
		Ready:  func() error { return nil },
		Resume: func() bool { return true },
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

// The program dies as soon as the grace has begun. The guard leaves no second
// one, although the command ignores SIGTERM.
func TestAProgramThatDiesInTheGraceLeavesNoSecondOne(t *testing.T) {
	t.Parallel()
	_, _ = runProgram(t, "dies in the grace") // returns when the command has ended
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
			ended := Ended(p.PID())
			<-p.Gone()
			require.Equal(t, tc.status, p.Status())
			<-ended
		})
	}
	require.NoFileExists(t, filepath.Join(dir, "touched"))

	// Nothing of what RunFor has started outlives its time, in the background either.
	for _, script := range []string{"trap '' TERM; sleep 1000; true", "trap '' TERM; sleep 1000 & true"} {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		cmd := exec.Command("sh", "-c", script)
		cmd.Stdout = w
		err = RunFor(time.Second, cmd)
		w.Close()
		require.EqualError(t, err, "killed after 1s")
		_, err = r.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		r.Close()
	}
	require.ErrorIs(t, RunFor(time.Second, exec.Command("/no/such/program")), ErrNotStarted)

	out, err := runProgram(t, "nohup")
	require.NoError(t, err)
	require.Equal(t, "alive\n", out, "who ignores hangups passes that on")
}
