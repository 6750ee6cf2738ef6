package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Deadlock is a cycle of processes, each of which waits for a lock that the
// next one holds, and the last for one of the first.
type Deadlock struct {
	Processes []string  // ordered as in the cycle
	Cycle     []Wait    // each with the one waiter and the one holder that are in the cycle
	Since     time.Time // the time at which the last of them began to wait, by the server's clock

	// Doubts are what may make it no deadlock, and cannot be seen in the nodes:
	//
	//   - "several_tasks": a process may hold and wait in different goroutines or
	//     threads, so that the holder can go on. The doubt is absent if each process
	//     holds and waits within one trace.
	//   - "may_lead": a lock in the cycle may be a leader election. Candidates wait
	//     for as long as they live, and do other work meanwhile.
	//   - "limit_not_known": the limit of a semaphore in the cycle is not known, so
	//     that it may have leases left.
	Doubts []string
}

// deadlocks finds the cycles among waits, the oldest first. If processes are
// entangled in several cycles, it returns one of them.
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

// knot has the locks with the processes that cannot go on. It takes a process for
// one thread of work, with these exceptions: a process does not wait for itself,
// and a wait for a lock does not keep a process from releasing that lock. A
// process with several goroutines does both all the time.
//
// A knot knows processes and locks, however many nodes they have. So the work for
// a crowd at one lock is in proportion to the crowd.
type knot []*lock

// lock is a lock that processes wait for.
type lock struct {
	Wait
	nodes map[string]Participant // a node that holds, by its process
	held  []string               // the processes that hold, in order

	waiting map[string]Participant // a node that waits, by its process
	stuck   []string               // the processes whose waits cannot end, as far as is known
}

// newKnot finds the waits that cannot end. It begins with all of them.
func newKnot(waits []Wait) (k knot) {
	named := namesOf(waits)
	for _, w := range waits {
		l := &lock{Wait: w, nodes: map[string]Participant{}, waiting: map[string]Participant{}}
		for _, p := range w.Holders {
			// Whatever its process waits for, a lock that is kept becomes free.
			who := named.process(p)
			if _, known := l.nodes[who]; !known && p.KeptUntil.IsZero() {
				l.nodes[who], l.held = p, append(l.held, who)
			}
		}
		for _, p := range w.Waiters {
			who := named.process(p)
			if _, known := l.waiting[who]; !known {
				l.waiting[who], l.stuck = p, append(l.stuck, who)
			}
		}
		k = append(k, l)
	}
	k.reduce()
	return k
}

// names has the name of the process of each session that has told one.
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

// process returns a text that is the same for all participants of a process. A
// node that names no process stands for its session, or for itself if it is not
// ephemeral.
func (n names) process(p Participant) string {
	if p.Session == 0 {
		return cmp.Or(p.process(), "node "+p.Path)
	}
	return cmp.Or(n[p.Session], fmt.Sprint("session ", p.Session))
}

// waits returns the locks on which each process is stuck.
func (k knot) waits() map[string][]*lock {
	all := map[string][]*lock{}
	for _, l := range k {
		for _, who := range l.stuck {
			all[who] = append(all[who], l)
		}
	}
	return all
}

// elsewhere returns the first of these locks that is another one than l, or nil.
func elsewhere(locks []*lock, l *lock) *lock {
	for _, other := range locks {
		if other != l {
			return other
		}
	}
	return nil
}

// reduce removes the waits that can end, and then others that can end because of
// that.
func (k knot) reduce() {
	for changed := true; changed; {
		changed = false
		waits := k.waits()
		for _, l := range k {
			before := len(l.stuck)
			l.reduce(waits)
			changed = changed || len(l.stuck) < before
		}
	}
}

// reduce removes the waits for a lock that can end. A wait cannot if one of the
// holders is stuck elsewhere, or, if any of them is enough, all are. Holders of the
// same process do not count.
func (l *lock) reduce(waits map[string][]*lock) {
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
		return stuck == 0 || l.Any && stuck < others
	})
}

// step is a process that waits for a lock in vain.
type step struct {
	who string
	on  *lock
	by  Participant // the node of the next process, which holds the lock
}

// cycle follows a process that is stuck to the holders it waits for, until it
// meets a process again. It returns nil if no process is stuck.
func (k knot) cycle() (way []step) {
	waits := k.waits()
	i := slices.IndexFunc(k, func(l *lock) bool { return len(l.stuck) > 0 })
	if i < 0 {
		return nil
	}
	way = []step{{who: k[i].stuck[0], on: k[i]}}
	for {
		last := &way[len(way)-1]
		for _, who := range last.on.held {
			if on := elsewhere(waits[who], last.on); on != nil && who != last.who {
				last.by = last.on.nodes[who]
				way = append(way, step{who: who, on: on})
				break
			}
		}
		next := way[len(way)-1]
		met := slices.IndexFunc(way[:len(way)-1], func(s step) bool { return s.who == next.who && s.on != last.on })
		if met >= 0 {
			return way[met : len(way)-1]
		}
	}
}

// release removes the processes of a cycle, and all that wait because of them.
func (k knot) release(cycle []step) {
	for _, l := range k {
		l.stuck = slices.DeleteFunc(l.stuck, func(who string) bool {
			return slices.ContainsFunc(cycle, func(s step) bool { return s.who == who })
		})
	}
	k.reduce()
}

// describe makes the report of a cycle.
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

// sameTrace reports whether two nodes belong to one trace, as their W3C trace
// contexts say.
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
