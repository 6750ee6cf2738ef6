package order

import "slices"

// Blocks reports whether a contender of the kind ours has to wait for one of
// the kind ahead that is in front of it in the queue. It must be a pure
// function.
type Blocks func(ours, ahead string) bool

// Exclusive is the Blocks of a lock that one contender holds alone.
func Exclusive(string, string) bool { return true }

// ReadersAndWriters is the Blocks of a lock that readers hold together and a
// writer holds alone. Its argument is the writers' kind.
//
// It admits a writer that is first, and readers that are behind no writer. A
// waiter watches the nearest node that it has to wait for. Curator's readers
// watch the first writer, and all wake up with each of them.
func ReadersAndWriters(writer string) Blocks {
	return func(ours, ahead string) bool { return ours == writer || ahead == writer }
}

// Standing is the position of a contender in its queue.
type Standing struct {
	Ahead   int    // contenders ahead of it
	Length  int    // contenders, itself included
	First   string // the node at the head of the queue
	Blocker string // the nearest node ahead that blocks it; empty if none does
}

// StandingOf finds the position among contenders in any order. It allocates
// nothing: a queue of thousands is looked at thousands of times.
//
// The nearest node that blocks is the one to watch. When it goes, either it is
// our turn or another node blocks us. Each waiter of an exclusive lock watches
// another node, so that a release wakes one of them.
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

// Holders reports of each contender of a queue whether it holds the lock. A
// contender does if no contender ahead blocks it.
func Holders(queue []Entry, blocks Blocks) []bool {
	holders := make([]bool, len(queue))
	var ahead []string // the kinds, each once
	for i, c := range queue {
		holders[i] = !slices.ContainsFunc(ahead, func(kind string) bool { return blocks(c.Kind, kind) })
		if !slices.Contains(ahead, c.Kind) {
			ahead = append(ahead, c.Kind)
		}
	}
	return holders
}
