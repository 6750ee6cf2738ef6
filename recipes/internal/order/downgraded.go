package order

import "slices"

// MostLooks bounds how often a queue is listed whose contenders change while they
// are read. A busy lock may be handed over many times in the time of one request, so
// that no look ever finds who was listed.
const MostLooks = 4

// HasDowngraded reports whether a queue of readers and writers has a reader with
// the number of a writer that was in it before, and had not then. That writer
// holds the lock all the while, by another node. An overflowed number tells nothing:
// many contenders have it, and a writer that has it cannot downgrade.
func HasDowngraded(before, now []Entry, readers string) bool {
	known, writers := map[string]bool{}, map[int32]bool{}
	for _, e := range before {
		known[e.Node] = true
		writers[e.Seq] = writers[e.Seq] || e.Kind != readers
	}
	return slices.ContainsFunc(now, func(e Entry) bool {
		return e.Kind == readers && writers[e.Seq] && !known[e.Node] && !e.Overflowed()
	})
}
