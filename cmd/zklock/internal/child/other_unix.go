//go:build unix && !linux

package child

import (
	"errors"
	"os"
	"syscall"
)

// adopts is for Linux: on other systems, the first process adopts orphans.
const adopts = false

func adoptOrphans() {}

func reapOrphans() (stop func()) { return func() {} }

// family is the command's process group. A process that leaves the group is not found.
type family struct{ group group }

func newFamily(command, _ int, _ uint64) *family {
	f := &family{}
	f.group.id.Store(int64(command))
	return f
}

// ending is for Linux: on other systems, a process that leaves the group has left.
type ending struct{}

func (f *family) begin() {}

func (f *family) howItEnds() *ending { return &ending{} }

func (f *family) beginAs(*ending) {}

func (f *family) gather() {}

func (f *family) leftIn(int) {}

func (f *family) takeOver() {}

// signal sends signals to the whole family. It returns the id of the group if this
// program may not signal any process of it, or 0.
func (f *family) signal(sigs ...syscall.Signal) (refused int) {
	for _, sig := range sigs {
		refused = max(refused, f.signalGroup(sig))
	}
	return refused
}

// kill kills the whole family; see signal.
func (f *family) kill() (refused int) { return f.signalGroup(syscall.SIGKILL) }

// isEmpty reports whether no process of the family is left.
func (f *family) isEmpty() bool { return !f.group.exists() }

// wait waits for the command.
func (g *guarding) wait(flags int) (pid int, ws syscall.WaitStatus, err error) {
	pid, err = syscall.Wait4(-1, &ws, flags, nil)
	return pid, ws, err
}

// dieWithParent is for Linux: on other systems, only the guard ends the command.
func dieWithParent(*syscall.SysProcAttr) {}

func executable() (string, error) { return os.Executable() }

// startOf is for Linux.
func startOf(int) (uint64, error) { return 0, nil }

// isStopped is for Linux: on other systems, a guard that reports nothing counts as
// stopped.
func isStopped(int) bool { return true }

// endOf is for Linux.
func endOf(int) (await func() error) { return func() error { return errors.ErrUnsupported } }
