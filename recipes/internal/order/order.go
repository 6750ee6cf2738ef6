package order

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"
)

// Entry is a child of the lock's path that is a contender.
type Entry struct {
	Node string // the child's name
	Kind string // one of the recipe's names, such as "lock-"
	Seq  int32  // its sequence number

	// Czxid is the id of the transaction that created the node, or 0 if the client has
	// not read it. Only overflowed contenders need it.
	Czxid int64
}

// Overflowed reports whether the server had no sequence number left for the node.
//
// A server derives the number of a sequential node from the parent's cversion, which
// never decreases (PrepRequestProcessor, DataTree.createNode). The number does not wrap:
// after the largest number, every node gets the same number. A node may also get a
// negative number if several are created in one transaction or at nearly the same time.
// From then on, only czxids give the order.
func (e Entry) Overflowed() bool { return e.Seq < 0 || e.Seq == math.MaxInt32 }

// Compare is a total order of all names, no matter which client created the nodes:
//
//   - Numbers that a server has counted come first, in ascending order.
//   - Overflowed numbers follow, in the order of their creation.
//   - Equal numbers are ordered by kind and name, so that every client sees the same
//     order. Curator gives a downgraded reader the number of its writer.
//
// The order of two contenders depends only on these two. So a client cannot move a
// newcomer ahead of a holder by adding nodes to the listing.
func Compare(a, b Entry) int {
	byNumber := cmp.Compare(a.Seq, b.Seq)
	switch {
	case a.Overflowed() && b.Overflowed():
		byNumber = cmp.Compare(a.Czxid, b.Czxid)
	case a.Overflowed():
		byNumber = 1
	case b.Overflowed():
		byNumber = -1
	}
	if byNumber != 0 { // nearly always, and the texts need not be compared
		return byNumber
	}
	return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Node, b.Node))
}

// Contenders are the entries of a queue, in any order. Iterating over them allocates
// nothing. An iter.Seq would, because the compiler cannot know which function it is.
type Contenders struct {
	names, kinds []string // of a listing
	entries      []Entry
}

// InListing returns the entries among a parent's children, in the order of the listing.
// It ignores all other children. Curator sorts such children as text, where they may
// block every contender.
func InListing(children []string, kinds ...string) Contenders {
	return Contenders{names: children, kinds: kinds}
}

// InQueue returns the entries of a queue.
func InQueue(entries []Entry) Contenders { return Contenders{entries: entries} }

// Each yields the entries.
func (q Contenders) Each(yield func(Entry) bool) {
	for _, name := range q.names {
		if c, ok := Parse(name, q.kinds); ok && !yield(c) {
			return
		}
	}
	for _, c := range q.entries {
		if !yield(c) {
			return
		}
	}
}

// Overflowed reports whether a contender's name has an overflowed number, which does not
// give the place in the queue.
func Overflowed(name string, kinds ...string) bool {
	c, ok := Parse(name, kinds)
	return ok && c.Overflowed()
}

// IsNode reports whether a contender can have this name.
func IsNode(name string, kinds ...string) bool {
	_, ok := Parse(name, kinds)
	return ok
}

// KazooKinds are the kinds of the contenders of Python's kazoo: the first is used by its
// Lock, Election and WriteLock, the second by its ReadLock.
var KazooKinds = []string{"__lock__", "__rlock__"}

// Parse parses a node name: an optional protection prefix, the kind, and the number.
// Curator accepts any prefix, and so also counts nodes such as "deadlock-0000000000"
// (standardFixForSorting). Kazoo does the same with its own names, which begin with a
// UUID.
func Parse(child string, kinds []string) (Entry, bool) {
	for _, kind := range kinds {
		before, number, found := cutKind(child, kind)
		if !found || !isProtection(before) && !slices.Contains(KazooKinds, kind) {
			continue
		}
		if seq, ok := parseSequence(number); ok {
			return Entry{Node: child, Kind: kind, Seq: seq}, true
		}
	}
	return Entry{}, false
}

// cutKind splits a node's name into the parts before and after the kind. It looks for the
// kind only at the places that leave room for a number, because thousands of waiters each
// read a queue of thousands.
func cutKind(child, kind string) (before, number string, found bool) {
	for width := sequenceWidth; width <= maxSequenceWidth && width <= len(child); width++ {
		if before, found = strings.CutSuffix(child[:len(child)-width], kind); found {
			return before, child[len(child)-width:], true
		}
	}
	return "", "", false
}

// isProtection accepts Curator's prefix with its UUID, the prefix of go-zookeeper's Lock,
// and the empty prefix.
func isProtection(prefix string) bool {
	return prefix == "" || strings.HasPrefix(prefix, "_c_") && strings.HasSuffix(prefix, "-")
}

// sequenceWidth is the width to which a server pads a sequence number with zeros,
// including the sign.
const sequenceWidth = 10

// maxSequenceWidth is the length of the longest number: a sign and ten digits.
const maxSequenceWidth = 11

// parseSequence parses what a server appends to the name of a sequential node: a signed
// 32-bit number, formatted with String.format("%010d").
func parseSequence(s string) (int32, bool) {
	n, err := strconv.ParseInt(s, 10, 32)
	digits, negative := strings.CutPrefix(s, "-")
	if err != nil || s[0] == '+' || negative && n == 0 {
		return 0, false
	}
	return int32(n), len(s) == sequenceWidth || len(s) > sequenceWidth && digits[0] != '0' // longer numbers need no zeros
}

// Sort sorts the entries of one parent in the order of admission. It returns false, and
// changes nothing, if the order depends on a missing czxid.
func Sort(queue []Entry) bool {
	if slices.ContainsFunc(queue, Entry.LacksCzxid) {
		return false
	}
	slices.SortFunc(queue, Compare)
	return true
}

// LacksCzxid reports whether the place of an entry depends on a czxid that is missing.
func (e Entry) LacksCzxid() bool { return e.Overflowed() && e.Czxid == 0 }

// Follows reports whether the numbers prove that ours was created after ahead. They prove
// nothing if a number has overflowed, or if the numbers are equal, because no server
// gives a number twice.
func Follows(ours, ahead Entry) bool {
	return !ours.Overflowed() && !ahead.Overflowed() && ours.Seq > ahead.Seq
}

// Newcomer returns the entry of the next node that will be created. Its number is how
// many nodes were ever created below the parent. The cversion is twice that number, minus
// the number of existing children (DataNode.copyStat).
//
// A node whose number is at least the newcomer's is not ahead of the newcomer: the server
// has not given that number to any node, so a client has invented the name.
func Newcomer(kind string, parent *zk.Stat) Entry {
	made := uint32(parent.Cversion+parent.NumChildren) / 2
	return Entry{Kind: kind, Seq: int32(made), Czxid: math.MaxInt64}
}

// CreateID returns the random part of a node's name, or the empty string if there is
// none.
func CreateID(name, kind string) string { return name[:max(0, strings.LastIndex(name, kind))] }

// IsAlone reports whether node is the only contender of these kinds in a listing.
func IsAlone(node string, names []string, kinds ...string) bool {
	for c := range InListing(names, kinds...).Each {
		if c.Node != node {
			return false
		}
	}
	return true
}

// MostLooks bounds how often a queue is listed if its contenders change between the
// listing and the reads. A busy lock may be handed over many times during one request, so
// that no attempt finds the listed contenders.
const MostLooks = 4
