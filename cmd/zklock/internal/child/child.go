// Package child runs a command so that nothing of it is left behind: the
// command, and what it starts, can be signalled and killed as one, also by the
// death of this program.
//
// On Unix the command has a process group of its own. A process that leaves the
// group, by setsid(2) or as a job of an interactive shell, is not reached. A
// second process, the guard, sends the group SIGTERM, and SIGKILL after the
// grace, when this program has died without a word, as by kill -9. The command
// begins when the guard knows it: until then its process is a launcher, which
// ends with this program. On Linux the command itself also has a parent-death
// signal, in case that the guard has died, too. On Windows the command is in a
// job object, which the system kills with its last handle.
package child

import (
	"errors"
	"os"
	"time"
)

// Command is what Start runs. Nothing in it may change afterwards.
type Command struct {
	Args                  []string // the program, which is looked for in $PATH, and its arguments
	Env                   []string
	Stdin, Stdout, Stderr *os.File   // the child's own; nothing is copied
	Files                 []*os.File // further ones, from descriptor 3 on; none on Windows

	// Ready is called right before the command is started. If it returns an
	// error, the command is not started, and Start returns the error.
	Ready func() error

	// Grace is the time that the guard leaves the group between SIGTERM and
	// SIGKILL.
	Grace time.Duration

	// Resume is called when the whole job was stopped, as by Ctrl-Z, and goes
	// on. If it returns false, the child stays stopped until it is told to end.
	Resume func() bool
}

// ErrGuard means that the guard could not be started, and the command was not.
var ErrGuard = errors.New("guard")

// Process is a command that was started. Any goroutine may call its methods.
type Process struct {
	exited chan struct{}
	gone   chan struct{}
	status int // written before exited is closed

	system
}

// Exited is closed when the command itself has ended. Processes that it has
// started may still run.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Gone is closed when, after the command, all that it has left behind in its
// group has ended, too, and its resources are freed. Without a Kill that can
// take for ever.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Status returns the exit status of the command as shells have it, which is
// 128+n after signal n. It may be called once Exited is closed.
func (p *Process) Status() int { return p.status }
