package inspect

import (
	"cmp"
	"slices"
	"time"

	"github.com/gocurator/curator/internal/printable"
)

// Graph says who waits for whom. See WaitGraph.
type Graph struct {
	Waits     []Wait     `json:"waits"` // one for each lock
	Deadlocks []Deadlock `json:"deadlocks"`

	// Unreadable has the paths whose children may not be listed. The waits
	// there are not known.
	Unreadable []string `json:"unreadable,omitempty"`
}

// Wait is a lock or a semaphore that participants wait for.
type Wait struct {
	Path    string        `json:"path"`
	Kind    Kind          `json:"kind"`
	MayBe   []Kind        `json:"may_be,omitempty"`
	Waiters []Participant `json:"waiters"` // ordered as in the queue

	// Holders are those that must go first: all of them, or, if Any is set, at
	// least one. Each waiter waits for them, and not for the waiters ahead,
	// which wait for the same holders. If the limit of a semaphore is known, and
	// not which of its leases are held, those that may be are among them.
	Holders []Participant `json:"holders"`
	Any     bool          `json:"any,omitempty"`

	limitKnown bool
	layout     Layout
}

// Waits returns who waits for whom in the locks and semaphores among some
// recipes. Candidates of a leader latch are not among them: they wait for as
// long as they live, and do other work meanwhile.
func Waits(recipes []Recipe) []Wait {
	var all []Wait
	for _, r := range recipes {
		switch r.Kind {
		case Mutex, ReadWriteLock, Semaphore:
			if w, ok := r.wait(); ok {
				all = append(all, w)
			}
		}
	}
	return all
}

func (r Recipe) wait() (w Wait, ok bool) {
	if r.Limit != nil && r.Unread == 0 && len(r.Holders) < *r.Limit {
		return w, false // there are leases left
	}
	holders := slices.Clone(r.Holders)
	if r.Limit == nil || r.sureHolders() >= *r.Limit {
		holders = slices.DeleteFunc(holders, func(p Participant) bool { return p.Unsure })
	} // else some of them hold, and it is enough if one of these goes
	return Wait{
		Path: r.Path, Kind: r.Kind, MayBe: r.MayBe, Waiters: slices.Clone(r.Waiters), Holders: holders,
		Any: r.Kind == Semaphore, limitKnown: r.Limit != nil, layout: r.Layout,
	}, len(holders) > 0 && len(r.Waiters) > 0
}

// lock identifies the lock that is waited for. Locks of several kinds may have
// one path.
func (w Wait) lock() lockID { return lockID{w.Path, w.Kind, w.layout} }

type lockID struct {
	path   string
	kind   Kind
	layout Layout
}

// Deadlock is a cycle of processes, each of which waits for a lock that the
// next one holds, and the last for one of the first.
type Deadlock struct {
	Processes []string  `json:"processes"` // ordered as in the cycle
	Cycle     []Blocked `json:"cycle"`
	Since     time.Time `json:"since"` // the time at which the last of them began to wait, by the server's clock

	// Doubts are what may make it no deadlock, and cannot be seen in the nodes.
	Doubts []Doubt `json:"doubts,omitempty"`
}

// Blocked is one part of a Deadlock: its waiter waits for its holder. The
// holder and the waiter of the next part are the same process.
type Blocked struct {
	Path   string      `json:"path"`
	Kind   Kind        `json:"kind"`
	Waiter Participant `json:"waiter"`
	Holder Participant `json:"holder"`
}

// Doubt is a reason why a Deadlock may be none.
type Doubt string

// The doubts.
const (
	// SeveralTasks says that a process may hold and wait in different
	// goroutines or threads, so that the holder can go on. The doubt is absent
	// if each process holds and waits within one trace.
	SeveralTasks Doubt = "several_tasks"

	// MayLead says that a lock in the cycle may be a leader election.
	// Candidates wait for as long as they live, and do other work meanwhile.
	MayLead Doubt = "may_lead"

	// LimitNotKnown says that the limit of a semaphore in the cycle is not
	// known, so that it may have leases left.
	LimitNotKnown Doubt = "limit_not_known"
)

// String says who holds and waits for what, such as
//
//	a@web-1/10 waits for /x of b@web-2/20, which waits for /y of a@web-1/10
func (d Deadlock) String() string {
	if len(d.Cycle) == 0 {
		return "no deadlock"
	}
	text := d.process(0)
	for i, b := range d.Cycle {
		if i > 0 {
			text += ", which"
		}
		text += " waits for " + printable.String(b.Path) + " of " + d.process((i+1)%len(d.Cycle))
	}
	return text
}

// process names the process that is the waiter of a part of the cycle. A
// Deadlock that was not made by this package may lack names.
func (d Deadlock) process(i int) string {
	if i < len(d.Processes) {
		return d.Processes[i]
	}
	return d.Cycle[i].Waiter.owner()
}

// sortDeadlocks puts the oldest first.
func sortDeadlocks(all []Deadlock) {
	slices.SortFunc(all, func(a, b Deadlock) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Cycle[0].Path, b.Cycle[0].Path))
	})
}
