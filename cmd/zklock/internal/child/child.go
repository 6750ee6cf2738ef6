// Package child runs a command so that nothing of it is left behind: the
// command, and what it starts, can be signalled and killed as one, also by the
// death of this program.
//
// On Unix a guard, which is a process, starts the command in a new process group:
//
//	this program - guard - command
//
// The guard tells this program how the command does. When this program has died,
// as by kill -9, the guard ends the command: by SIGTERM, and after the grace by
// SIGKILL. If the guard dies, the system kills the command at once (on Linux),
// and this program ends the rest. If both are killed together, the system kills
// the command, and what the command has started goes on. If the guard is stopped
// and this program is killed, the command goes on until the guard does.
//
// On Linux this program and the guard adopt the processes below them whose
// parents have ended. So all that descends from the command is found, in
// whichever group or session; see family. Elsewhere it is the command's group
// alone that is signalled and waited for.
//
// What follows from an event is decided by a course, a state machine.
//
// Commands run on Unix alone.
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
	Files                 []*os.File // further ones, at free descriptors, see FirstFile

	// Ready is called right before the command is started. If it returns an
	// error, the command is not started, and Start returns the error.
	Ready func() error

	// Cancel ends the start if it is closed before the command has begun, as
	// while the system takes long to load the program. Start returns ErrCanceled
	// then, and nothing of the command is left. It is for Linux.
	Cancel <-chan struct{}

	// Background says that the command gets the terminal only when it wants to
	// read from it or to change it. So signals that are typed reach this program.
	Background bool

	// Grace is the time that the guard leaves the command between SIGTERM and
	// SIGKILL if this program dies. If this program has sent SIGTERM before its
	// death, the guard sends SIGKILL at once: one grace has begun then.
	Grace time.Duration
}

var (
	// ErrGuard means that the guard could not be started, or has ended at the
	// start. Nothing of the command is left.
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

// Gone is closed when, after the command, all that it has left behind has
// ended, too, and its resources are freed. Without a Kill that can take for
// ever.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Refused has the id of a process of the command that this program may not
// signal, as one of another user. The channel keeps the first id that was not
// received. Such a process goes on, and Gone is not closed before it has ended.
func (p *Process) Refused() <-chan int { return p.refused }

// Status returns the exit status of the command as shells have it, which is
// 128+n after signal n. It may be called once Exited is closed.
func (p *Process) Status() int { return p.status }

// GuardDied reports whether the command was killed because somebody has killed
// its guard. It may be called once Exited is closed.
func (p *Process) GuardDied() bool { return p.guardDied }
