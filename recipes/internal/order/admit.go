package order

import "slices"

// Blocks reports whether a contender of the kind ours must wait for a contender of the
// kind ahead that is before it in the queue. It must be a pure function.
type Blocks func(ours, ahead string) bool

// Exclusive is the Blocks of a lock that one contender holds alone.
func Exclusive(string, string) bool { return true }

// ReadersAndWriters is the Blocks of a lock that readers hold together and a writer holds
// alone. The argument is the writers' kind.
//
// A writer is admitted when it is first, and a reader when no writer is ahead. A waiter
// watches the nearest node for which it must wait. In Curator, all readers watch the
// first writer, and every change of a writer wakes all of them.
func ReadersAndWriters(writer string) Blocks {
	return func(ours, ahead string) bool { return ours == writer || ahead == writer }
}

// Standing is the position of a contender in its queue.
type Standing struct {
	Ahead   int    // contenders ahead of it
	Length  int    // the number of contenders, including this one
	First   string // the node at the head of the queue
	Blocker string // the nearest node ahead that blocks the contender; empty if there is none
}

// StandingOf returns the position of one contender among others in any order. It allocates
// nothing, because thousands of waiters each read a queue of thousands.
//
// The waiter should watch the nearest blocking node. When that node is deleted, either it
// is the waiter's turn or another node blocks the waiter. The waiters of an exclusive
// lock all watch different nodes, so a release wakes only one of them.
func StandingOf(ours Entry, all Contenders, blocks Blocks) Standing {
	var s Standing
	var first, blocker Entry
	for c := range all.Each {
		if s.Length == 0 || Compare(c, first) < 0 {
			first = c
		}
		s.Length++
		if Compare(c, ours) >= 0 {
			continue
		}
		s.Ahead++
		if blocks(ours.Kind, c.Kind) && (blocker.Node == "" || Compare(c, blocker) > 0) {
			blocker = c
		}
	}
	s.First, s.Blocker = first.Node, blocker.Node
	return s
}

// Holders reports for each contender of a queue whether it holds the lock. A contender
// holds the lock if no contender ahead blocks it.
func Holders(queue []Entry, blocks Blocks) []bool {
	holders := make([]bool, len(queue))
	var ahead []string // the distinct kinds ahead
	for i, c := range queue {
		holders[i] = !slices.ContainsFunc(ahead, func(kind string) bool { return blocks(c.Kind, kind) })
		if !slices.Contains(ahead, c.Kind) {
			ahead = append(ahead, c.Kind)
		}
	}
	return holders
}
