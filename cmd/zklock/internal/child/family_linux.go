package child

import (
	"errors"
	"os"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// family is the set of processes of a command: the command and its descendants, in any
// process group or session.
//
// The guard adopts a process whose parent has ended, so the process remains a
// descendant of the guard. Such a process still belongs to the command, unless it has
// left. A process has left if setsid(2) has moved it or an ancestor to another session
// than the command's, and
//
//   - the process leads that session, or the session's leader has left, or
//   - the leader was adopted and has ended since, as happens when a daemon forks twice.
//
// Descendants of a process that has left have left, too. Once the command ends or is
// asked to end, no further process can leave.
type family struct {
	group   group
	command int
	session int // the command's session
	procfs  procfs
	unread  []int      // keepers whose identity is not known yet
	keepers []identity // the processes that adopt orphans
	after   uint64     // processes that began earlier do not belong
	ended   endedLeaders

	ending bool
	left   map[identity]bool // the processes that had left when the end began
	seen   map[identity]bool // the processes that have belonged since then

	sender func(p process, sigs ...syscall.Signal) error // replaces process.signal in tests
}

// endedLeaders are sessions whose leaders were adopted and have ended.
type endedLeaders struct {
	mu       sync.Mutex
	sessions map[int]bool
	closed   bool // the end of the family has begun
}

// newFamily returns the family of a command below this guard. The argument after is a time
// before the command's start, in the unit of startOf.
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

// identify reads the identities of the keepers, and reports whether all are known. A
// keeper that has ended adopts no process.
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

// look returns the processes, and whether the list is complete.
func (f *family) look() (all map[int]process, complete bool) {
	all, complete = f.procfs.all()
	return all, f.identify() && complete
}

// takeOver must be called when the guard has died: this program has then adopted the
// guard's descendants.
func (f *family) takeOver() {
	f.unread = append(f.unread, os.Getpid())
	f.identify()
}

// leftIn notes a session whose leader was adopted and has ended.
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

// gather begins the end of a family after the guard and the command have died. Orphans
// of the command then look like processes that had left earlier, so all of them count
// as members.
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

// ending describes how the end of a family has begun, for another process.
type ending struct {
	Left     []leaver `json:",omitempty"` // see family.left
	Sessions []int    `json:",omitempty"` // see endedLeaders
}

// leaver is an identity.
type leaver struct {
	PID   int
	Start uint64
}

// mostLeavers is how many leavers are reported. So many fit into the guard's pipe
// without waiting for the guard to read. Further leavers count as members.
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

// beginAs begins the end of the family as another process has begun it.
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

// members returns the living processes of the family.
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

// standing is the relation of a process to a family.
type standing int

const (
	isForeign standing = iota
	belongs
	hasLeft
)

// standing returns the relation of a process to the family.
func (f *family) standing(all map[int]process, p process) standing {
	// A chain of parents and leaders cannot be longer than the list. The list was not
	// read at one moment, so it can contain a cycle.
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

// isApart reports whether a process can never belong to the command.
func (f *family) isApart(p process) bool {
	return p.start < f.after || slices.Contains(f.keepers, p.identity) || children.find(p.pid) != nil
}

// signal sends signals to the whole family. It returns the id of a process that this
// program may not signal, or 0.
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
			own = []syscall.Signal{0} // a signal to the group reaches only processes that this program may signal
		}
		if errors.Is(f.send(p, own...), syscall.EPERM) && refused == 0 {
			refused = p.pid
		}
	}
	return refused
}

// killGroup kills all processes of a group.
func (f *family) killGroup(group int) {
	if f.sender == nil { // the groups of a test do not exist on this machine
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

// kill kills all processes of the family that it finds. The next call finds processes
// that are started meanwhile. It returns the id of a process that this program may not
// kill, or 0.
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

// groupsOf returns the process groups that consist of members only.
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

// isEmpty reports whether no process of the family is left. isEmpty searches twice,
// because a search can miss a process that starts behind it while the parent ends ahead
// of it. An incomplete search proves nothing. A process that this program may not see
// counts as a member once a keeper has adopted it.
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

// isDead reports whether only ended processes that were not reaped are left in the
// command's group.
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
