// Package child runs a command so that no process of it is left behind: the command and
// its descendants can be signalled and killed together, even if this program dies.
//
// On Unix a guard, which is a process, starts the command in a new process group:
//
//	this program - guard - command
//
// The guard reports the state of the command to this program. When this program has
// died, as by kill -9, the guard ends the command: by SIGTERM, and after the grace by
// SIGKILL. If the guard dies, the system kills the command at once (on Linux), and this
// program kills the descendants. If both are killed together, the system kills the
// command, but its descendants keep running. If the guard is stopped and this program
// is killed, the command keeps running until the guard continues.
//
// On Linux, this program and the guard adopt descendants whose parents have ended. So
// this package finds all descendants of the command, in any group or session; see
// family. On other systems, this package signals and awaits only the command's group.
//
// A course, which is a state machine, decides what follows from an event.
//
// Commands run on Unix only.
package child

import (
	"errors"
	"os"
	"time"
)

// Command describes the command that Start runs. It must not change after the call of
// Start.
type Command struct {
	Args                  []string // the program, which is searched in $PATH, and its arguments
	Env                   []string
	Stdin, Stdout, Stderr *os.File   // passed to the child directly, without copying
	Files                 []*os.File // further files, at free descriptors, see FirstFile

	// Ready is called right before the command is started. If it returns an
	// error, the command is not started, and Start returns the error.
	Ready func() error

	// Closing Cancel before the command has begun cancels the start, for example while
	// the system takes long to load the program. Start then returns ErrCanceled, and no
	// process of the command is left. Cancel works on Linux only.
	Cancel <-chan struct{}

	// Background means that the command gets the terminal only when it tries to read
	// from it or to change it, so typed signals reach this program.
	Background bool

	// Grace is the time that the guard leaves the command between SIGTERM and SIGKILL
	// if this program dies. If this program has sent SIGTERM before its death, the
	// guard sends SIGKILL at once, because one grace has already begun.
	Grace time.Duration
}

var (
	// ErrGuard means that the guard could not be started, or has ended at the start. No
	// process of the command is left.
	ErrGuard = errors.New("guard")

	// ErrCanceled means that Command.Cancel was closed before the command was
	// known to run.
	ErrCanceled = errors.New("canceled at its start")
)

// Process is a command that was started. Any goroutine may call its methods.
type Process struct {
	exited  chan struct{}
	gone    chan struct{}
	refused chan int

	// These are written before exited is closed.
	status    int
	guardDied bool

	system
}

// Exited is closed when the command itself has ended. Processes that it has
// started may still run.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Gone is closed when the command and all its descendants have ended, and all resources
// are freed. Without a Kill, that can take for ever.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Refused yields the id of a process of the command that this program may not signal,
// such as a process of another user. The channel keeps the first id that was not
// received. Such a process keeps running, and Gone is not closed before its end.
func (p *Process) Refused() <-chan int { return p.refused }

// Status returns the exit status of the command in the form of shells: 128+n after
// signal n. Call Status only after Exited is closed.
func (p *Process) Status() int { return p.status }

// GuardDied reports whether the command was killed because its guard was killed. Call
// GuardDied only after Exited is closed.
func (p *Process) GuardDied() bool { return p.guardDied }
