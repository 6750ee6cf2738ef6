//go:build unix && !linux

package child

import "syscall"

// adopts is for Linux: elsewhere orphans go to the first process.
const adopts = false

// family is the command's process group. A process that leaves it is not found.
type family struct{ group group }

func newFamily(command, _ int, _ uint64) *family {
	f := &family{}
	f.group.id.Store(int64(command))
	return f
}

// ending is for Linux: elsewhere whoever leaves the group has left.
type ending struct{}

func (f *family) begin() {}

func (f *family) howItEnds() *ending { return &ending{} }

func (f *family) beginAs(*ending) {}

func (f *family) gather() {}

func (f *family) leftIn(int) {}

func (f *family) takeOver() {}

// signal sends signals to all of the family. It returns the id of the group if
// this program may not signal any process of it, or 0.
func (f *family) signal(sigs ...syscall.Signal) (refused int) {
	for _, sig := range sigs {
		refused = max(refused, f.signalGroup(sig))
	}
	return refused
}

// pause stops all of the family. It reports whether all have been told to stop.
func (f *family) pause() bool {
	_ = f.group.signal(syscall.SIGSTOP)
	return true
}

// resume continues whom pause has stopped.
func (f *family) resume() { _ = f.group.signal(syscall.SIGCONT) }

// kill ends all of the family; see signal.
func (f *family) kill() (refused int) { return f.signalGroup(syscall.SIGKILL) }

// isEmpty reports whether nobody of the family is left.
func (f *family) isEmpty() bool { return !f.group.exists() }
