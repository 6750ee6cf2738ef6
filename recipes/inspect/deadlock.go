package inspect

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/gocurator/curator/internal/reason"
)

// deadlocks finds the cycles among waits. If processes are entangled in several
// cycles, it returns one that is short.
func deadlocks(ctx context.Context, waits []Wait) ([]Deadlock, error) {
	k := newKnots(waits)
	var all []Deadlock
	for len(k.stuck) > 0 {
		cycle, err := k.shortCycle(ctx)
		if err != nil {
			return nil, err
		}
		if cycle == nil {
			break
		}
		all = append(all, k.describe(cycle))
		k.forget(cycle)
	}
	sortDeadlocks(all)
	return all, nil
}

// knots finds out who cannot go on. It takes a process for one thread of work,
// with these exceptions: a process does not wait for itself, and a wait for a
// lock does not keep anybody from releasing that lock. A process with several
// goroutines does both all the time.
//
// What is found out is a matter of processes and locks, however many nodes they
// have: hence the work for a crowd at one lock is in proportion to it.
type knots struct {
	*processes
	stuck map[string][]*wait // the waits of a process that cannot end, as far as is known
	holds map[string][]*lock // the locks of a process that others wait for
}

// lock is a lock that processes wait for.
type lock struct {
	Wait
	waits []*wait

	// The processes that hold it, and one of the nodes of each. Those whose
	// holds are stuck wait for something else, in vain.
	processes []string
	holders   map[string]Participant
	stuck     map[string]bool
}

// wait is what a process waits for, with all of its nodes. One of them stands
// for the others: who waits for what is the same.
type wait struct {
	on     *lock
	who    string
	waiter Participant
	over   bool // it can end
}

// newKnots finds the waits that cannot end. It begins with all of them.
func newKnots(waits []Wait) *knots {
	k := &knots{processes: processesOf(waits), stuck: map[string][]*wait{}, holds: map[string][]*lock{}}
	var all []*wait
	locks := make([]*lock, len(waits))
	for i, w := range waits {
		locks[i] = k.lockOf(w)
		all = append(all, locks[i].waits...)
	}
	for _, l := range locks {
		for _, who := range l.processes {
			if k.waitsForOther(who, l) {
				l.stuck[who] = true
			}
		}
	}
	k.reduce(all)
	return k
}

func (k *knots) lockOf(w Wait) *lock {
	l := &lock{Wait: w, holders: map[string]Participant{}, stuck: map[string]bool{}}
	for _, holder := range w.Holders {
		if holder.isKept() { // whatever its process waits for, the lock becomes free
			continue
		}
		who := k.of(holder)
		if _, known := l.holders[who]; !known {
			l.holders[who] = holder
			l.processes = append(l.processes, who)
			k.holds[who] = append(k.holds[who], l)
		}
	}
	waits := map[string]bool{}
	for _, waiter := range w.Waiters {
		if who := k.of(waiter); !waits[who] {
			waits[who] = true
			l.waits = append(l.waits, &wait{on: l, who: who, waiter: waiter})
			k.stuck[who] = append(k.stuck[who], l.waits[len(l.waits)-1])
		}
	}
	return l
}

// waitsForOther reports whether a process waits in vain for something else.
func (k *knots) waitsForOther(who string, l *lock) bool {
	waits := k.stuck[who]
	return len(waits) > 1 || len(waits) == 1 && waits[0].on != l
}

// reduce removes those waits that can end, and then others that can end because
// of that.
func (k *knots) reduce(check []*wait) {
	for len(check) > 0 {
		w := check[len(check)-1]
		check = check[:len(check)-1]
		if !w.over && !w.cannotEnd() {
			check = append(check, k.end(w)...)
		}
	}
}

// end notes that a wait can end. It returns the waits for the process that this
// may free, too.
func (k *knots) end(w *wait) []*wait {
	w.over = true
	rest := slices.DeleteFunc(k.stuck[w.who], func(other *wait) bool { return other == w })
	if len(rest) == 0 {
		delete(k.stuck, w.who)
		return k.freed(w.who, k.holds[w.who]...)
	}
	k.stuck[w.who] = rest
	if len(rest) == 1 {
		return k.freed(w.who, rest[0].on) // it is all that the process waits for
	}
	return nil
}

// freed notes that a process can release some locks, if it holds them. It
// returns the waits that this may free. A lock that many processes hold makes a
// difference to its waiters only when few of them are left: so each wait is
// checked only a few times.
func (k *knots) freed(who string, locks ...*lock) (check []*wait) {
	for _, l := range locks {
		if !l.stuck[who] {
			continue
		}
		delete(l.stuck, who)
		if free := len(l.processes) - len(l.stuck); len(l.stuck) <= 1 || l.Any && free <= 2 {
			check = append(check, l.waits...)
		}
	}
	return check
}

// cannotEnd reports whether those that must go first cannot: one of them, or,
// if any of them is enough, all. Holders of the same process do not count.
func (w *wait) cannotEnd() bool {
	stuck, free := len(w.on.stuck), len(w.on.processes)-len(w.on.stuck)
	if w.on.stuck[w.who] {
		stuck--
	} else if _, own := w.on.holders[w.who]; own {
		free--
	}
	return stuck > 0 && (free == 0 || !w.on.Any)
}

// step is a part of a way through the knots.
type step struct {
	wait   *wait
	holder Participant
	from   *step
	to     string // the holder's process
}

// shortCycle returns a cycle. There is one while any process is stuck.
func (k *knots) shortCycle(ctx context.Context) ([]step, error) {
	first := slices.Min(slices.Collect(maps.Keys(k.stuck)))
	return k.cycleThrough(ctx, k.inCycle(k.stuck[first][0]))
}

// inCycle follows a wait to one that is part of a cycle.
func (k *knots) inCycle(w *wait) *wait {
	met := map[*wait]bool{}
	for !met[w] {
		met[w] = true
		w = k.next(w)
	}
	return w
}

// next returns a wait because of which w cannot end.
func (k *knots) next(w *wait) *wait {
	for _, holder := range w.on.processes {
		if holder == w.who || !w.on.stuck[holder] {
			continue
		}
		for _, next := range k.stuck[holder] {
			if next.on != w.on {
				return next
			}
		}
	}
	return w // cannot be: w is stuck
}

// cycleThrough returns the shortest cycle that a wait is part of. It searches
// breadth first. Two waits for a lock lead to all of its holders.
func (k *knots) cycleThrough(ctx context.Context, first *wait) ([]step, error) {
	var ways []*step
	seen := map[visited]bool{}
	extend := func(w *wait, from *step) {
		for _, holder := range w.on.processes {
			at := visited{holder, w.on}
			if holder != w.who && !seen[at] && w.on.stuck[holder] {
				seen[at] = true
				ways = append(ways, &step{w, w.on.holders[holder], from, holder})
			}
		}
	}
	searched := map[*lock]int{}
	extend(first, nil)
	for i := 0; i < len(ways); i++ {
		if ctx.Err() != nil {
			return nil, reason.OfContext(ctx)
		}
		last := ways[i]
		if last.to == first.who && last.wait.on != first.on {
			return last.path(), nil
		}
		for _, next := range k.stuck[last.to] {
			if next.on != last.wait.on && searched[next.on] < 2 {
				searched[next.on]++
				extend(next, last)
			}
		}
	}
	return nil, nil
}

// visited is a process that was reached through a lock that it holds.
type visited struct {
	process string
	through *lock
}

// path returns the steps up to this one.
func (s *step) path() []step {
	var all []step
	for ; s != nil; s = s.from {
		all = append(all, *s)
	}
	slices.Reverse(all)
	return all
}

// forget removes the processes of a cycle, and all that wait because of them.
func (k *knots) forget(cycle []step) {
	for _, s := range cycle {
		who := s.wait.who
		for _, w := range k.stuck[who] {
			w.over = true
		}
		delete(k.stuck, who)
		k.reduce(k.freed(who, k.holds[who]...))
	}
}

// describe makes the report of a cycle.
func (k *knots) describe(cycle []step) Deadlock {
	var d Deadlock
	for _, s := range cycle {
		d.Processes = append(d.Processes, s.wait.waiter.owner())
		d.Cycle = append(d.Cycle, Blocked{s.wait.on.Path, s.wait.on.Kind, s.wait.waiter, s.holder})
		if d.Since.Before(s.wait.waiter.Since) {
			d.Since = s.wait.waiter.Since
		}
	}
	d.Doubts = doubts(cycle)
	return d
}

func doubts(cycle []step) []Doubt {
	var all []Doubt
	severalTasks, mayLead, limitNotKnown := false, false, false
	for i, s := range cycle {
		next := cycle[(i+1)%len(cycle)]
		severalTasks = severalTasks || !sameTrace(s.holder, next.wait.waiter)
		mayLead = mayLead || slices.Contains(s.wait.on.MayBe, LeaderSelector) || slices.Contains(s.wait.on.MayBe, Election)
		limitNotKnown = limitNotKnown || s.wait.on.Any && !s.wait.on.limitKnown
	}
	for doubt, is := range map[Doubt]bool{SeveralTasks: severalTasks, MayLead: mayLead, LimitNotKnown: limitNotKnown} {
		if is {
			all = append(all, doubt)
		}
	}
	slices.Sort(all)
	return all
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

// stable returns the waits of the second of two looks that were there in the
// first one, with the holders that were. All of them were there at one time,
// which is between the looks: a node that has the same czxid in both was there
// all the time, and neither a holder nor a waiter falls back behind others.
func stable(first, second []Wait) []Wait {
	before := map[lockID]Wait{}
	for _, w := range first {
		before[w.lock()] = w
	}
	var all []Wait
	for _, w := range second {
		was := before[w.lock()]
		held, waiting := inBoth(was.Holders, w.Holders), inBoth(was.Waiters, w.Waiters)
		if w.Any && (len(held) < len(w.Holders) || len(held) < len(was.Holders)) {
			continue // somebody has given a lease back, or got one
		}
		if len(held) > 0 && len(waiting) > 0 {
			w.Holders, w.Waiters = held, waiting
			all = append(all, w)
		}
	}
	return all
}

// incarnation is one node: another one of its path has another czxid.
type incarnation struct {
	path  string
	czxid int64
}

// inBoth returns the participants of the second look whose nodes were there in
// the first.
func inBoth(first, second []Participant) []Participant {
	there := map[incarnation]bool{}
	for _, p := range first {
		there[incarnation{p.Path, p.Czxid}] = true
	}
	return slices.DeleteFunc(slices.Clone(second), func(p Participant) bool {
		return p.Czxid == 0 || !there[incarnation{p.Path, p.Czxid}]
	})
}
