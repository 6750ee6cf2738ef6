package inspect

import (
	"maps"
	"slices"
	"strings"
)

// deadlocks finds the cycles among waits. If processes are entangled in several
// cycles, it returns one that is short.
func deadlocks(waits []Wait) []Deadlock {
	k := newKnots(waits)
	var all []Deadlock
	for len(k.stuck) > 0 {
		cycle := k.shortCycle()
		if cycle == nil {
			break
		}
		all = append(all, k.describe(cycle))
		k.forget(cycle)
	}
	sortDeadlocks(all)
	return all
}

// knots finds out who cannot go on. It takes a process for one thread of work,
// with these exceptions: a process does not wait for itself, and a wait for a
// lock does not keep anybody from releasing that lock. A process with several
// goroutines does both all the time.
type knots struct {
	*processes
	stuck map[string][]*Wait // the waits of a process that cannot end, as far as is known
	after map[string][]*Wait // the waits for a process

	// locks has the number of stuck waits of each process for each lock.
	locks map[string]map[lockID]int
}

// newKnots finds the waits that cannot end. It begins with all of them.
func newKnots(waits []Wait) *knots {
	k := &knots{
		processes: processesOf(waits),
		stuck:     map[string][]*Wait{}, after: map[string][]*Wait{}, locks: map[string]map[lockID]int{},
	}
	var all []*Wait
	for i := range waits {
		w := &waits[i]
		all = append(all, w)
		who := k.of(w.Waiter)
		k.stuck[who] = append(k.stuck[who], w)
		if k.locks[who] == nil {
			k.locks[who] = map[lockID]int{}
		}
		k.locks[who][w.lock()]++
		for _, holder := range w.Holders {
			k.after[k.of(holder)] = append(k.after[k.of(holder)], w)
		}
	}
	k.reduce(all)
	return k
}

// reduce removes those waits that can end, and then others that can end because
// of that.
func (k *knots) reduce(check []*Wait) {
	for len(check) > 0 {
		w := check[len(check)-1]
		check = check[:len(check)-1]
		who := k.of(w.Waiter)
		if at := slices.Index(k.stuck[who], w); at >= 0 && !k.cannotEnd(w) {
			k.stuck[who] = slices.Delete(k.stuck[who], at, at+1)
			if len(k.stuck[who]) == 0 {
				delete(k.stuck, who)
			}
			check = append(check, k.freed(who, w.lock())...)
		}
	}
}

// freed notes that a wait of a process for a lock can end. It returns the waits
// for the process that this may free, too: all of them after the process's last
// wait, and those for a lock if that is the only one left that it waits for.
// Hence each wait is checked only a few times.
func (k *knots) freed(who string, lock lockID) []*Wait {
	locks := k.locks[who]
	if locks[lock]--; locks[lock] > 0 {
		return nil
	}
	delete(locks, lock)
	switch len(locks) {
	case 0:
		return k.after[who]
	case 1:
		return slices.DeleteFunc(slices.Clone(k.after[who]), func(w *Wait) bool { return locks[w.lock()] == 0 })
	default:
		return nil
	}
}

// cannotEnd reports whether those that must go first cannot: one of them, or,
// if any of them is enough, all. Holders of the same process do not count.
func (k *knots) cannotEnd(w *Wait) bool {
	stuck, free := 0, 0
	for _, holder := range w.Holders {
		switch {
		case k.of(holder) == k.of(w.Waiter):
		case k.isStuck(w, holder):
			stuck++
		default:
			free++
		}
	}
	return stuck > 0 && (free == 0 || !w.Any)
}

// isStuck reports whether a holder of what w waits for waits for something
// else, in vain.
func (k *knots) isStuck(w *Wait, holder Participant) bool {
	locks := k.locks[k.of(holder)]
	return len(locks) > 1 || len(locks) == 1 && locks[w.lock()] == 0
}

// step is a part of a way through the knots.
type step struct {
	wait   *Wait
	holder Participant
	from   *step
}

// shortCycle returns a cycle. There is one while any process is stuck.
func (k *knots) shortCycle() []step {
	first := slices.Min(slices.Collect(maps.Keys(k.stuck)))
	return k.cycleThrough(k.inCycle(k.stuck[first][0]))
}

// inCycle follows a wait to one that is part of a cycle.
func (k *knots) inCycle(w *Wait) *Wait {
	met := map[*Wait]bool{}
	for !met[w] {
		met[w] = true
		w = k.next(w)
	}
	return w
}

// next returns a wait because of which w cannot end.
func (k *knots) next(w *Wait) *Wait {
	for _, holder := range w.Holders {
		if k.of(holder) == k.of(w.Waiter) {
			continue
		}
		for _, next := range k.stuck[k.of(holder)] {
			if next.lock() != w.lock() {
				return next
			}
		}
	}
	return w // cannot be: w is stuck
}

// cycleThrough returns the shortest cycle that a wait is part of. It searches
// breadth first.
func (k *knots) cycleThrough(first *Wait) []step {
	var ways []*step
	seen := map[visited]bool{}
	extend := func(w *Wait, from *step) {
		for _, holder := range w.Holders {
			at := visited{k.of(holder), w.lock()}
			if at.process != k.of(w.Waiter) && !seen[at] && k.isStuck(w, holder) {
				seen[at] = true
				ways = append(ways, &step{w, holder, from})
			}
		}
	}
	extend(first, nil)
	for i := 0; i < len(ways); i++ {
		last := ways[i]
		who := k.of(last.holder)
		if who == k.of(first.Waiter) && last.wait.lock() != first.lock() {
			return last.path()
		}
		for _, next := range k.stuck[who] {
			if next.lock() != last.wait.lock() {
				extend(next, last)
			}
		}
	}
	return nil
}

// visited is a process that was reached through a lock that it holds.
type visited struct {
	process string
	through lockID
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
		who := k.of(s.wait.Waiter)
		delete(k.stuck, who)
		delete(k.locks, who)
		k.reduce(slices.Clone(k.after[who]))
	}
}

// describe makes the report of a cycle.
func (k *knots) describe(cycle []step) Deadlock {
	var d Deadlock
	for _, s := range cycle {
		d.Processes = append(d.Processes, s.wait.Waiter.String())
		d.Cycle = append(d.Cycle, Blocked{s.wait.Path, s.wait.Kind, s.wait.Waiter, s.holder})
		if d.Since.Before(s.wait.Waiter.Since) {
			d.Since = s.wait.Waiter.Since
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
		severalTasks = severalTasks || !sameTrace(s.holder, next.wait.Waiter)
		mayLead = mayLead || slices.Contains(s.wait.MayBe, LeaderSelector) || slices.Contains(s.wait.MayBe, Election)
		limitNotKnown = limitNotKnown || s.wait.Any && !s.wait.limitKnown
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
	before := map[waitID]Wait{}
	for _, w := range first {
		before[w.id()] = w
	}
	var all []Wait
	for _, w := range second {
		was, ok := before[w.id()]
		if !ok || w.Waiter.Czxid == 0 {
			continue
		}
		held := slices.DeleteFunc(slices.Clone(w.Holders), func(p Participant) bool { return !among(was.Holders, p) })
		if w.Any && (len(held) < len(w.Holders) || len(held) < len(was.Holders)) {
			continue // somebody has given a lease back, or got one
		}
		if len(held) > 0 {
			w.Holders = held
			all = append(all, w)
		}
	}
	return all
}

type waitID struct {
	lockID
	node  string
	czxid int64
}

func (w Wait) id() waitID { return waitID{w.lock(), w.Waiter.Path, w.Waiter.Czxid} }

func among(all []Participant, p Participant) bool {
	return p.Czxid != 0 && slices.ContainsFunc(all, func(q Participant) bool { return q.Path == p.Path && q.Czxid == p.Czxid })
}
