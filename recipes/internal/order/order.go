package order

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"
)

// Entry is a child of the lock's path that belongs to the recipe.
type Entry struct {
	Node string // the child's name
	Kind string // one of the recipe's names, such as "lock-"
	Seq  int32  // its sequence number

	// Czxid is the id of the transaction that made the node. It is 0 if we have
	// not asked the server. Only overflowed contenders need it.
	Czxid int64
}

// Overflowed reports whether the server had no number left for the node.
//
// A server takes the number of a sequential node from its parent's cversion,
// and never lowers that (PrepRequestProcessor, DataTree.createNode). So the
// number does not wrap: from the largest one on, every node gets the same
// number, or, if several are made in one transaction or at nearly the same
// time, a negative one. Numbers say nothing about the order then. Czxids do.
func (e Entry) Overflowed() bool { return e.Seq < 0 || e.Seq == math.MaxInt32 }

// Compare is a total order, for all names, no matter which client has made
// them:
//
//   - Numbers that a server has counted come first, in their own order.
//   - Overflowed ones come behind them, in the order of their creation.
//   - Equals are ordered by kind and name, to be the same for everybody.
//     Curator gives a downgraded reader the number of its writer.
//
// The order of two contenders depends on nothing but the two. So nobody can
// put a newcomer ahead of a holder by adding nodes to the listing.
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
	if byNumber != 0 { // nearly always, and then no text need be compared
		return byNumber
	}
	return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Node, b.Node))
}

// Contenders are the entries of a queue, in any order. Whoever goes through them
// allocates nothing. An iter.Seq may be any function, so that the compiler cannot
// know this of it.
type Contenders struct {
	names, kinds []string // a listing's
	entries      []Entry
}

// InListing returns the entries among a parent's children, in the order of the
// listing. It leaves out children whose names are not the recipe's. Curator
// sorts those in as text, where they may block every contender.
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

// Overflowed reports whether a contender's name has a number that says nothing
// about its place in the queue.
func Overflowed(name string, kinds ...string) bool {
	c, ok := Parse(name, kinds)
	return ok && c.Overflowed()
}

// IsNode reports whether a contender may have this name.
func IsNode(name string, kinds ...string) bool {
	_, ok := Parse(name, kinds)
	return ok
}

// KazooKinds are the names of the contenders of Python's kazoo: those of its Lock, its
// Election and its WriteLock, and those of its ReadLock.
var KazooKinds = []string{"__lock__", "__rlock__"}

// Parse reads a node name: protection or nothing, the recipe's name, and the
// number. Curator takes any prefix, and so counts nodes such as
// "deadlock-0000000000", too (standardFixForSorting). So does kazoo, with its own
// names, which begin with a UUID.
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

// cutKind returns what is before and behind the recipe's name in a node's name.
// It looks for it only where a number would leave it, and not in all of a name: a
// queue of thousands is looked at thousands of times.
func cutKind(child, kind string) (before, number string, found bool) {
	for width := sequenceWidth; width <= maxSequenceWidth && width <= len(child); width++ {
		if before, found = strings.CutSuffix(child[:len(child)-width], kind); found {
			return before, child[len(child)-width:], true
		}
	}
	return "", "", false
}

// isProtection accepts Curator's prefix with its UUID, the prefix of
// go-zookeeper's Lock, and none.
func isProtection(prefix string) bool {
	return prefix == "" || strings.HasPrefix(prefix, "_c_") && strings.HasSuffix(prefix, "-")
}

// sequenceWidth is the number of characters to which a server pads a sequence
// number with zeros, its sign included.
const sequenceWidth = 10

// maxSequenceWidth is the length of the longest one: a sign and ten digits.
const maxSequenceWidth = 11

// parseSequence reads what a server appends to a sequential node: a signed
// number of 32 bits, as String.format("%010d") writes it.
func parseSequence(s string) (int32, bool) {
	n, err := strconv.ParseInt(s, 10, 32)
	digits, negative := strings.CutPrefix(s, "-")
	if err != nil || s[0] == '+' || negative && n == 0 {
		return 0, false
	}
	return int32(n), len(s) == sequenceWidth || len(s) > sequenceWidth && digits[0] != '0' // longer numbers need no zeros
}

// Sort puts entries of one parent in the order of admission. It reports false,
// and changes nothing, if the order depends on a czxid that is missing.
func Sort(queue []Entry) bool {
	if slices.ContainsFunc(queue, Entry.LacksCzxid) {
		return false
	}
	slices.SortFunc(queue, Compare)
	return true
}

// LacksCzxid reports whether the place of an entry depends on a czxid that is not
// known.
func (e Entry) LacksCzxid() bool { return e.Overflowed() && e.Czxid == 0 }

// Follows reports whether numbers tell that a contender came after another, and
// before all that come later. They do not where the server has none left. Equal
// numbers were not given by a server.
func Follows(ours, ahead Entry) bool {
	return !ours.Overflowed() && !ahead.Overflowed() && ours.Seq > ahead.Seq
}

// Newcomer returns the entry of a node that is made next. It has the number of
// all nodes that were ever made below the parent. Cversion is twice that, less
// those that are left (DataNode.copyStat).
//
// Whoever has the number of a newcomer or a larger one is not ahead: somebody
// has made that name up.
func Newcomer(kind string, parent *zk.Stat) Entry {
	made := uint32(parent.Cversion+parent.NumChildren) / 2
	return Entry{Kind: kind, Seq: int32(made), Czxid: math.MaxInt64}
}

// CreateID returns the part of a node's name that its create has made up. It is
// empty if there is none.
func CreateID(name, kind string) string { return name[:max(0, strings.LastIndex(name, kind))] }

// IsAlone reports whether a listing has no contender of these kinds but this one.
func IsAlone(node string, names []string, kinds ...string) bool {
	for c := range InListing(names, kinds...).Each {
		if c.Node != node {
			return false
		}
	}
	return true
}

// MostLooks bounds how often a queue is listed whose contenders change while they
// are read. A busy lock may be handed over many times in the time of one request, so
// that no look ever finds who was listed.
const MostLooks = 4
