package inspect

import (
	"maps"
	"slices"
	"strings"
)

// deadlocks finds the cycles among waits. Of processes that are entangled in
// several cycles, it returns one that is short.
func deadlocks(waits []Wait) []Deadlock {
	k := newKnots(waits)
	k.reduce()
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
}

// newKnots takes all waits for ones that cannot end.
func newKnots(waits []Wait) *knots {
	k := &knots{processes: processesOf(waits), stuck: map[string][]*Wait{}}
	for i := range waits {
		who := k.of(waits[i].Waiter)
		k.stuck[who] = append(k.stuck[who], &waits[i])
	}
	return k
}

// reduce removes, again and again, the waits that can end.
func (k *knots) reduce() {
	for again := true; again; {
		again = false
		for who, waits := range k.stuck {
			left := slices.DeleteFunc(slices.Clone(waits), func(w *Wait) bool { return !k.cannotEnd(w) })
			if len(left) == len(waits) {
				continue
			}
			again = true
			k.stuck[who] = left
			if len(left) == 0 {
				delete(k.stuck, who)
			}
		}
	}
}

// cannotEnd reports whether those that must go first cannot: one of them, or,
// if any of them is enough, all.
func (k *knots) cannotEnd(w *Wait) bool {
	isStuck := func(holder Participant) bool { return k.isStuck(w, holder) }
	if w.Any {
		return !slices.ContainsFunc(w.Holders, func(p Participant) bool { return !isStuck(p) })
	}
	return slices.ContainsFunc(w.Holders, isStuck)
}

// isStuck reports whether a holder of what w waits for waits for something
// else, in vain.
func (k *knots) isStuck(w *Wait, holder Participant) bool {
	who := k.of(holder)
	if who == k.of(w.Waiter) && !w.Any {
		return false
	}
	return slices.ContainsFunc(k.stuck[who], func(next *Wait) bool { return next.lock() != w.lock() })
}

// step is a part of a way through the knots.
type step struct {
	wait   *Wait
	holder Participant
	from   *step
}

// shortCycle returns the shortest cycle that begins at the first process that
// is in one, or nil.
func (k *knots) shortCycle() []step {
	for _, who := range slices.Sorted(maps.Keys(k.stuck)) {
		if cycle := k.cycleFrom(who); cycle != nil {
			return cycle
		}
	}
	return nil
}

// cycleFrom searches breadth first.
func (k *knots) cycleFrom(begin string) []step {
	var ways []*step
	seen := map[visited]bool{}
	extend := func(who string, from *step) {
		for _, w := range k.stuck[who] {
			if from != nil && from.wait.lock() == w.lock() {
				continue
			}
			for _, holder := range w.Holders {
				at := visited{k.of(holder), w.lock()}
				if at.process != who && !seen[at] && k.isStuck(w, holder) {
					seen[at] = true
					ways = append(ways, &step{w, holder, from})
				}
			}
		}
	}
	extend(begin, nil)
	for i := 0; i < len(ways); i++ {
		last := ways[i]
		who := k.of(last.holder)
		if cycle := last.path(); who == begin && cycle[0].wait.lock() != last.wait.lock() {
			return cycle
		}
		if who != begin {
			extend(who, last)
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
		delete(k.stuck, k.of(s.wait.Waiter))
	}
	k.reduce()
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
