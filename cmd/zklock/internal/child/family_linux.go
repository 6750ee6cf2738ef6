package child

import (
	"errors"
	"os"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// family is all that belongs to a command: the command, and what descends from
// it, in whichever process group or session.
//
// A process whose parent has ended is adopted by a guard, so that it is still
// below that. It belongs to the command as before, unless it has left: it is in
// another session than the command, to which setsid(2) has brought it or its
// parent, and
//
//   - it leads that session, or its leader has left, or
//   - the leader has ended, and had been adopted before, as the parents of
//     daemons are that fork twice.
//
// What descends from a process that has left has left, too. When the end of the
// command has begun, or it was asked to end, nobody leaves any more.
type family struct {
	group   group
	command int
	session int // the command's
	procfs  procfs
	unread  []int      // keepers that the system has not told of yet
	keepers []identity // they adopt orphans, which become their children
	after   uint64     // nothing belongs that began before
	ended   endedLeaders

	ending bool
	left   map[identity]bool // the processes that had left when the end began
	seen   map[identity]bool // the processes that have belonged since then

	sender func(p process, sigs ...syscall.Signal) error // of a test, in place of process.signal
}

// endedLeaders are sessions whose leaders had been adopted, and have ended.
type endedLeaders struct {
	mu       sync.Mutex
	sessions map[int]bool
	closed   bool // the end of the family has begun
}

// newFamily returns the family of a command that is below this guard, and that did
// not begin before after, in the unit of startOf.
func newFamily(command, guard int, after uint64) *family {
	session, _ := unix.Getsid(0)
	f := &family{command: command, session: session, procfs: theProcfs, unread: []int{guard}}
	f.left, f.seen = map[identity]bool{}, map[identity]bool{}
	f.ended.sessions = map[int]bool{}
	f.identify()
	f.after = after
	f.group.id.Store(int64(command))
	return f
}

// identify finds out who the keepers are. It reports whether all are known. One
// that has ended keeps nobody.
func (f *family) identify() bool {
	var unread []int
	for _, pid := range f.unread {
		switch p, err := f.procfs.read(pid); {
		case err == nil:
			f.keepers = append(f.keepers, p.identity)
		case !isUnseen(err):
			unread = append(unread, pid)
		}
	}
	f.unread = unread
	return len(unread) == 0
}

// look returns all processes, and whether that is all of them.
func (f *family) look() (all map[int]process, complete bool) {
	all, complete = f.procfs.all()
	return all, f.identify() && complete
}

// takeOver must be called when the guard has died: this program has adopted what
// was below it.
func (f *family) takeOver() {
	f.unread = append(f.unread, os.Getpid())
	f.identify()
}

// leftIn notes a session whose leader had been adopted, and has ended.
func (f *family) leftIn(session int) {
	f.ended.mu.Lock()
	defer f.ended.mu.Unlock()
	if !f.ended.closed {
		f.ended.sessions[session] = true
	}
}

func (e *endedLeaders) has(session int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sessions[session]
}

func (e *endedLeaders) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.sessions)
}

func (e *endedLeaders) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
}

// gather begins the end of a family whose guard has died, and with it the
// command. What the command has left looks like what had left it, so all of that
// belongs.
func (f *family) gather() {
	f.ending = true
	f.left = nil
	f.ended.close()
	f.ended.forget()
}

// begin begins the end of the family.
func (f *family) begin() {
	if f.ending {
		return
	}
	f.ended.close()
	all, _ := f.look()
	for _, p := range all {
		if f.standing(all, p) == hasLeft {
			f.left[p.identity] = true
		}
	}
	f.ending = true
}

// ending is how the end of a family has begun, for somebody else to know.
type ending struct {
	Left     []leaver `json:",omitempty"` // see family.left
	Sessions []int    `json:",omitempty"` // see endedLeaders
}

// leaver is an identity.
type leaver struct {
	PID   int
	Start uint64
}

// mostLeavers is how many leavers are told. Nobody waits for a guard that does
// not read, and this many fit into its pipe. Others count as members.
const mostLeavers = 500

// howItEnds returns how the end has begun.
func (f *family) howItEnds() *ending {
	e := &ending{}
	for id := range f.left {
		if len(e.Left) < mostLeavers {
			e.Left = append(e.Left, leaver{id.pid, id.start})
		}
	}
	f.ended.mu.Lock()
	defer f.ended.mu.Unlock()
	for session := range f.ended.sessions {
		if len(e.Sessions) < mostLeavers {
			e.Sessions = append(e.Sessions, session)
		}
	}
	return e
}

// beginAs begins the end of the family as somebody else has begun it.
func (f *family) beginAs(e *ending) {
	f.ending = true
	f.ended.close()
	f.ended.forget()
	for _, l := range e.Left {
		f.left[identity{l.PID, l.Start}] = true
	}
	f.ended.mu.Lock()
	defer f.ended.mu.Unlock()
	for _, session := range e.Sessions {
		f.ended.sessions[session] = true
	}
}

// members returns the processes of the family that live.
func (f *family) members(all map[int]process) (members []process) {
	for _, p := range all {
		if !p.dead && f.standing(all, p) == belongs {
			members = append(members, p)
			if f.ending {
				f.seen[p.identity] = true
			}
		}
	}
	return members
}

// standing is how a process stands to a family.
type standing int

const (
	isForeign standing = iota
	belongs
	hasLeft
)

// standing returns how one of all processes stands to the family.
func (f *family) standing(all map[int]process, p process) standing {
	// No chain of parents and leaders is longer. A list that was not read at one
	// moment can have a circle.
	for range len(all) {
		if f.isApart(p) {
			return isForeign
		}
		parent, ok := all[p.parent]
		switch {
		case !ok:
			return isForeign
		case !slices.Contains(f.keepers, parent.identity):
			p = parent
			continue
		case p.pid == f.command, p.session == f.session, f.seen[p.identity]:
			return belongs
		case f.left[p.identity]:
			return hasLeft
		}
		leader, ok := all[p.session]
		switch {
		case !ok && f.ended.has(p.session):
			return hasLeft
		case !ok:
			return belongs
		case leader.pid != p.pid:
			p = leader
		case f.ending:
			return belongs
		default:
			return hasLeft
		}
	}
	return isForeign
}

// isApart reports whether a process is none of the command's, wherever it is.
func (f *family) isApart(p process) bool {
	return p.start < f.after || slices.Contains(f.keepers, p.identity) || children.find(p.pid) != nil
}

// signal sends signals to all of the family. It returns the id of a process that
// this program may not signal, or 0.
func (f *family) signal(sigs ...syscall.Signal) (refused int) {
	f.begin()
	group := int(f.group.id.Load())
	for _, sig := range sigs {
		_ = f.group.signal(sig)
	}
	all, _ := f.look()
	for _, p := range f.members(all) {
		own := sigs
		if p.group == group {
			own = []syscall.Signal{0} // the group's signals reach those that this program may signal
		}
		if errors.Is(f.send(p, own...), syscall.EPERM) && refused == 0 {
			refused = p.pid
		}
	}
	return refused
}

// killGroup kills all processes of a group.
func (f *family) killGroup(group int) {
	if f.sender == nil { // the groups of a test are not of this machine
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
}

// send sends signals to a process.
func (f *family) send(p process, sigs ...syscall.Signal) error {
	if f.sender != nil {
		return f.sender(p, sigs...)
	}
	return p.signal(sigs...)
}

// kill ends all of the family that it finds. Processes that are started
// meanwhile are found by another call. It returns the id of a process that this
// program may not kill, or 0.
func (f *family) kill() (refused int) {
	f.begin()
	_ = f.group.signal(syscall.SIGKILL)
	all, _ := f.look()
	members := f.members(all)
	for group := range groupsOf(all, members) {
		f.killGroup(group) // reaches processes that have just begun, too
	}
	for _, p := range members {
		if errors.Is(f.send(p, syscall.SIGKILL), syscall.EPERM) && refused == 0 {
			refused = p.pid
		}
	}
	return refused
}

// groupsOf returns the process groups in which there are members alone.
func groupsOf(all map[int]process, members []process) map[int]bool {
	groups, ours := map[int]bool{}, map[int]bool{}
	for _, p := range members {
		groups[p.group], ours[p.pid] = true, true
	}
	for _, p := range all {
		if !ours[p.pid] && !p.dead {
			delete(groups, p.group)
		}
	}
	return groups
}

// isEmpty reports whether nobody of the family is left. It looks twice: a
// process can begin behind a look, and its parent end ahead of it. A look that
// is not complete proves nothing. A process that this program may not see counts
// as a member once a keeper has adopted it.
func (f *family) isEmpty() bool {
	for range 2 {
		all, complete := f.look()
		if !complete || len(f.members(all)) > 0 || f.group.exists() && !f.isDead(all) || f.isHidden(all) {
			return false
		}
	}
	return true
}

// isHidden reports whether a keeper has a child that this program may not see.
func (f *family) isHidden(all map[int]process) bool {
	return slices.ContainsFunc(f.keepers, func(k identity) bool {
		return all[k.pid].identity == k && f.procfs.hides(all, k.pid)
	})
}

// isDead reports whether all who are left of the command's group have ended, and
// nobody has waited for them.
func (f *family) isDead(all map[int]process) bool {
	found := false
	for _, p := range all {
		if p.group == int(f.group.id.Load()) {
			if found = true; !p.dead {
				return false
			}
		}
	}
	return found
}
