package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Deadlock is a cycle of processes: each process waits for a lock that the next one
// holds, and the last waits for a lock of the first.
type Deadlock struct {
	Processes []string  // ordered as in the cycle
	Cycle     []Wait    // each with only the waiter and the holder in the cycle
	Since     time.Time // when the last of the waits began, by the server's clock

	// Doubts are reasons why the cycle may not be a deadlock, which the nodes do not
	// show:
	//
	//   - "several_tasks": a process may hold and wait in different goroutines or
	//     threads, so the holder can continue. The doubt is absent if each process
	//     holds and waits within one trace.
	//   - "may_lead": a lock in the cycle may be a leader election. Candidates wait for
	//     their whole life, and do other work meanwhile.
	//   - "limit_not_known": the limit of a semaphore in the cycle is not known, so the
	//     semaphore may have leases left.
	Doubts []string
}

// deadlocks finds the cycles among waits, the oldest first. If several cycles share
// processes, deadlocks returns one of the cycles.
func deadlocks(waits []Wait) (all []Deadlock) {
	k := newKnot(waits)
	for cycle := k.cycle(); cycle != nil; cycle = k.cycle() {
		all = append(all, describe(cycle))
		k.release(cycle)
	}
	slices.SortFunc(all, func(a, b Deadlock) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Cycle[0].Path, b.Cycle[0].Path))
	})
	return all
}

// knot has the locks and the processes that cannot continue. It treats a process as one
// thread of work, with two exceptions: a process does not wait for itself, and a wait
// for a lock does not prevent a process from releasing the same lock. A process with
// several goroutines does both all the time.
//
// A knot counts processes and locks but not nodes, so the work for a crowd at one lock
// is in proportion to the crowd.
type knot struct {
	locks []*lock
	waits map[string][]*lock // the locks on which a process is stuck
	holds map[string][]*lock // the locks that a process holds
}

// lock is a lock that processes wait for.
type lock struct {
	Wait
	nodes map[string]Participant // a holder's node, by its process
	held  []string               // the processes of holders, in order

	waiting map[string]Participant // a waiter's node, by its process
	stuck   []string               // the processes whose waits are not known to end
}

// newKnot finds the waits that cannot end, starting with all waits.
func newKnot(waits []Wait) *knot {
	k := &knot{waits: map[string][]*lock{}, holds: map[string][]*lock{}}
	named := namesOf(waits)
	for _, w := range waits {
		l := &lock{Wait: w, nodes: map[string]Participant{}, waiting: map[string]Participant{}}
		for _, p := range w.Holders {
			// A lock that is only kept becomes free, whatever its process waits for.
			who := named.process(p)
			if _, known := l.nodes[who]; !known && p.KeptUntil.IsZero() {
				l.nodes[who], l.held = p, append(l.held, who)
				k.holds[who] = append(k.holds[who], l)
			}
		}
		for _, p := range w.Waiters {
			who := named.process(p)
			if _, known := l.waiting[who]; !known {
				l.waiting[who], l.stuck = p, append(l.stuck, who)
				k.waits[who] = append(k.waits[who], l)
			}
		}
		k.locks = append(k.locks, l)
	}
	k.reduce(k.locks)
	return k
}

// names has the name of the process for each session that has a node with such a name.
type names map[int64]string

func namesOf(waits []Wait) names {
	n := names{}
	for _, w := range waits {
		for _, p := range slices.Concat(w.Holders, w.Waiters) {
			if name := p.process(); name != "" && p.Session != 0 {
				n[p.Session] = name
			}
		}
	}
	return n
}

// process returns a text that is the same for all participants of a process. A node
// without the name of a process stands for its session or, if the node is not
// ephemeral, for itself.
func (n names) process(p Participant) string {
	if p.Session == 0 {
		return cmp.Or(p.process(), "node "+p.Path)
	}
	return cmp.Or(n[p.Session], fmt.Sprint("session ", p.Session))
}

// elsewhere returns the first of these locks other than l, or nil.
func elsewhere(locks []*lock, l *lock) *lock {
	for _, other := range locks {
		if other != l {
			return other
		}
	}
	return nil
}

// reduce removes those waits for these locks that can end. A process whose wait ends
// may release locks, so reduce continues with the waits for those.
func (k *knot) reduce(locks []*lock) {
	for len(locks) > 0 {
		freed := map[*lock]bool{}
		for _, l := range locks {
			for _, who := range l.reduce(k.waits) {
				k.waits[who] = slices.DeleteFunc(k.waits[who], func(other *lock) bool { return other == l })
				for _, held := range k.holds[who] {
					freed[held] = true
				}
			}
		}
		locks = slices.Collect(maps.Keys(freed))
	}
}

// reduce removes the waits for a lock that can end, and returns their processes. A wait
// for all holders cannot end if one of them is stuck elsewhere. A wait for any holder
// cannot end if all of them are stuck elsewhere. Holders of the same process do not
// count.
func (l *lock) reduce(waits map[string][]*lock) (ended []string) {
	stuck := 0
	for _, who := range l.held {
		if elsewhere(waits[who], l) != nil {
			stuck++
		}
	}
	l.stuck = slices.DeleteFunc(l.stuck, func(who string) bool {
		stuck, others := stuck, len(l.held)
		if _, own := l.nodes[who]; own {
			others--
			if elsewhere(waits[who], l) != nil {
				stuck--
			}
		}
		ends := stuck == 0 || l.Any && stuck < others
		if ends {
			ended = append(ended, who)
		}
		return ends
	})
	return ended
}

// step is a process whose wait for a lock cannot end.
type step struct {
	who string
	on  *lock
	by  Participant // the node of the next process, which holds the lock
}

// cycle follows a stuck process to the holders that it waits for, until a process
// appears for the second time. It returns nil if no process is stuck.
func (k *knot) cycle() (way []step) {
	i := slices.IndexFunc(k.locks, func(l *lock) bool { return len(l.stuck) > 0 })
	if i < 0 {
		return nil
	}
	way = []step{{who: k.locks[i].stuck[0], on: k.locks[i]}}
	for {
		last := &way[len(way)-1]
		next, ok := k.next(*last)
		if !ok { // cannot be: the process is stuck
			return nil
		}
		last.by = last.on.nodes[next.who]
		met := slices.IndexFunc(way, func(s step) bool { return s.who == next.who && s.on != last.on })
		if met >= 0 {
			return way[met:]
		}
		way = append(way, next)
	}
}

// next returns a wait that prevents the given wait from ending.
func (k *knot) next(s step) (next step, ok bool) {
	for _, who := range s.on.held {
		if on := elsewhere(k.waits[who], s.on); on != nil && who != s.who {
			return step{who: who, on: on}, true
		}
	}
	return step{}, false
}

// release removes the processes of a cycle, and all processes that wait for them.
func (k *knot) release(cycle []step) {
	var freed []*lock
	for _, s := range cycle {
		for _, l := range k.waits[s.who] {
			l.stuck = slices.DeleteFunc(l.stuck, func(who string) bool { return who == s.who })
		}
		delete(k.waits, s.who)
		freed = append(freed, k.holds[s.who]...)
	}
	k.reduce(freed)
}

// describe returns the report of a cycle.
func describe(cycle []step) (d Deadlock) {
	severalTasks, mayLead, limitNotKnown := false, false, false
	for i, s := range cycle {
		waiter := s.on.waiting[s.who]
		next := cycle[(i+1)%len(cycle)]
		wait := s.on.Wait
		wait.Waiters, wait.Holders = []Participant{waiter}, []Participant{s.by}
		d.Processes, d.Cycle = append(d.Processes, waiter.owner()), append(d.Cycle, wait)
		if d.Since.Before(waiter.Since) {
			d.Since = waiter.Since
		}
		severalTasks = severalTasks || !sameTrace(s.by, next.on.waiting[next.who])
		mayLead = mayLead || slices.Contains(wait.MayBe, leaderSelector) || slices.Contains(wait.MayBe, election)
		limitNotKnown = limitNotKnown || wait.Any && !wait.limitKnown
	}
	for _, doubt := range []struct {
		name string
		is   bool
	}{{"limit_not_known", limitNotKnown}, {"may_lead", mayLead}, {"several_tasks", severalTasks}} {
		if doubt.is {
			d.Doubts = append(d.Doubts, doubt.name)
		}
	}
	return d
}

// sameTrace reports whether the W3C trace contexts of two nodes belong to the same
// trace.
func sameTrace(a, b Participant) bool {
	id := func(p Participant) string {
		parts := strings.Split(p.Trace["traceparent"], "-")
		if len(parts) < 4 {
			return ""
		}
		return parts[1]
	}
	return id(a) != "" && id(a) == id(b)
}
