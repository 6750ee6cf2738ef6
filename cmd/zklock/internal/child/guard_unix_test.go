//go:build unix

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
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/thorough"
)

// patience is how long a test waits for what must happen, on a busy machine.
var patience = thorough.Patience(45 * time.Second)

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
		c.Stdout, c.Grace = out, 2*patience
		p, err := Start(c)
		if err != nil {
			panic(err)
		}
		if _, err := ready.Read(make([]byte, 1)); err != nil {
			panic(err)
		}
		for range 7 { // the owner is busy
			p.ask(request{do: toPause, done: make(chan bool, 1)})
			p.ask(request{do: toResume})
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

// The program dies as soon as the grace has begun. The guards leave no second
// one, although the command ignores SIGTERM.
func TestAProgramThatDiesInTheGraceLeavesNoSecondOne(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = runProgram(t, "dies in the grace")
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("the command is still there")
	}
}

func TestIgnoredHangupIsInherited(t *testing.T) {
	t.Parallel()
	out, err := runProgram(t, "nohup")
	require.NoError(t, err)
	require.Equal(t, "alive\n", out)
}

func TestAFileThatIsNoProgram(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "object")
	require.NoError(t, os.WriteFile(path, []byte("\x7fELF\x00"), 0o700))
	_, err := Start(command(path))
	require.ErrorIs(t, err, syscall.ENOEXEC)
	require.ErrorContains(t, err, path)
}

// The system finds out what LookPath does not: the interpreter is missing.
func TestAScriptWithoutItsInterpreter(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(path, []byte("#!/no/such/interpreter\n"), 0o700))
	_, err := Start(command(path))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestARefusalStartsNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	c := command("touch", file)
	refused := errors.New("refused")
	c.Ready = func() error { return refused }
	_, err := Start(c)
	require.ErrorIs(t, err, refused)
	require.NoFileExists(t, file)
}

func TestTheCommandHasTheStatusOfTheProgram(t *testing.T) {
	t.Parallel()
	p, err := Start(command("sh", "-c", "exit 42"))
	require.NoError(t, err)
	<-p.Gone()
	require.Equal(t, 42, p.Status())
}
