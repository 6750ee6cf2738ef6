//go:build unix

package child

import (
	"errors"
	"sync/atomic"
	"syscall"
	"time"
)

// familyPoll is the initial time between two searches of a family.
const familyPoll = 10 * time.Millisecond

// pace computes the time between searches. The zero pace is right for the first search.
type pace struct{ first time.Time }

// after returns how long to wait after a search. The wait is longer if a search takes long
// because there are many processes, or if this program cannot kill a process.
func (p *pace) after(now time.Time, took time.Duration) time.Duration {
	if p.first.IsZero() {
		p.first = now
	}
	return max(familyPoll, 10*took, min(time.Second, now.Sub(p.first)/100))
}

// end ends the processes of a family, with this patience after SIGTERM, and returns
// when none is left. The channel, unless nil, is closed when this process has no
// descendants.
func (f *family) end(patience time.Duration, alone <-chan struct{}) {
	f.begin()
	if patience > 0 {
		f.signal(syscall.SIGTERM, syscall.SIGCONT)
	}
	late, killing := time.After(patience), patience <= 0
	var pace pace
	for {
		begin := time.Now()
		if killing {
			f.kill()
		}
		if f.isEmpty() {
			return
		}
		select {
		case <-alone:
			if adopts {
				return
			}
			alone = nil
		case <-time.After(pace.after(time.Now(), time.Since(begin))):
		case <-late:
			killing = true
		}
	}
}

// group is the command's process group. The system does not reuse the id while the
// group has processes, and the command counts until it is reaped. The zero group is
// empty.
type group struct{ id atomic.Int64 }

// signal sends a signal to all processes of the group. The error is EPERM if this
// program may not signal any of them.
func (g *group) signal(sig syscall.Signal) error {
	if id := g.id.Load(); id > 1 && g.exists() {
		return syscall.Kill(-int(id), sig) // ESRCH: the processes have just ended
	}
	return nil
}

// signalGroup sends a signal to the command's group. It returns the id of the
// group if this program may not signal any process of it, or 0.
func (f *family) signalGroup(sig syscall.Signal) (refused int) {
	id := int(f.group.id.Load())
	if errors.Is(f.group.signal(sig), syscall.EPERM) {
		return id
	}
	return 0
}

// exists reports whether the group has processes. exists forgets an empty group,
// because the system may soon reuse the id.
func (g *group) exists() bool {
	id := g.id.Load()
	if id > 1 && errors.Is(syscall.Kill(-int(id), 0), syscall.ESRCH) {
		g.id.Store(0)
		return false
	}
	return id > 1
}

// forgetGroup must be called when the command was reaped: if the group is empty, it is
// not signalled any more.
func (f *family) forgetGroup() { f.group.exists() }
