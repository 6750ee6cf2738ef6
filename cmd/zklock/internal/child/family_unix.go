//go:build unix

package child

import (
	"errors"
	"sync/atomic"
	"syscall"
	"time"
)

// familyPoll is how often to look whether a family has ended, at first.
const familyPoll = 10 * time.Millisecond

// pace is how often to look again. The zero pace is right for the first look.
type pace struct{ first time.Time }

// after returns how long to wait after a look that has begun then: longer if
// there are so many processes that a look takes long, and if somebody stays whom
// this program cannot kill.
func (p *pace) after(begin time.Time) time.Duration {
	if p.first.IsZero() {
		p.first = begin
	}
	return max(familyPoll, 10*time.Since(begin), min(time.Second, time.Since(p.first)/100))
}

// end ends the processes of a family, with this patience from SIGTERM on, and
// returns when none is left. The channel, if there is one, is closed when there
// is nothing below this process.
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
		case <-time.After(pace.after(begin)):
		case <-late:
			killing = true
		}
	}
}

// group is the command's process group. Its id stays its own as long as it has
// processes, and the command is one until it was waited for. The zero group has
// none.
type group struct{ id atomic.Int64 }

// signal sends a signal to all processes of the group.
func (g *group) signal(sig syscall.Signal) {
	if id := g.id.Load(); id > 1 && g.exists() {
		_ = syscall.Kill(-int(id), sig) // ESRCH: they have just ended
	}
}

// exists reports whether the group has processes. A group without any is
// forgotten: its id may soon be another group's.
func (g *group) exists() bool {
	id := g.id.Load()
	if id > 1 && errors.Is(syscall.Kill(-int(id), 0), syscall.ESRCH) {
		g.id.Store(0)
		return false
	}
	return id > 1
}

// forgetGroup must be called when the command was waited for: its group is not
// signalled any more if nobody is left in it.
func (f *family) forgetGroup() { f.group.exists() }
