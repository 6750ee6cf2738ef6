//go:build !unix

package child

import (
	"errors"
	"os"
	"syscall"
)

// Supported is true if Start can start a command.
const Supported = false

// Forwarded are the signals that a program passes on to its child.
var Forwarded = []os.Signal{os.Interrupt, syscall.SIGTERM}

// system is the part of a Process that differs from system to system.
type system struct{}

// RunHelper does nothing here.
func RunHelper() {}

// Prepare does nothing here.
func Prepare() (stop func()) { return func() {} }

// Start returns an error: commands run on Unix only.
func Start(Command) (*Process, error) { return nil, errors.ErrUnsupported }

// Ended returns a channel that is never closed.
func Ended(int) <-chan struct{} { return nil }

// Exists returns true: there may be a process with this id.
func Exists(int) bool { return true }

// FirstFile returns 0: there are no Files.
func FirstFile() int { return 0 }

// Signal does nothing here.
func (p *Process) Signal(os.Signal) {}

// Terminate does nothing here.
func (p *Process) Terminate() {}

// Kill does nothing here.
func (p *Process) Kill() {}
