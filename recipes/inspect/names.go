package inspect

import (
	"iter"
	"slices"
	"strings"

	"github.com/gocurator/curator/recipes/internal/order"
)

// These are the names of contenders, before the sequence number.
const (
	mutexNode = "lock-"
	readNode  = "__READ__"
	writeNode = "__WRIT__"
	latchNode = "latch-"
	leaseNode = "lease-"
)

// These are the names of kazoo's contenders.
var kazooNode, kazooReadNode = order.KazooKinds[0], order.KazooKinds[1]

// These are the names of directories in recipes with several directories.
const (
	// Curator's semaphores have these directories.
	gateDir   = "locks"
	leasesDir = "leases"

	kazooGateEnd = "-__lock__" // follows the path of kazoo's semaphores

	// Kazoo's LockingQueue has these directories.
	entriesDir = "entries"
	takenDir   = "taken"
)

// contents are the children of a node, sorted by the kinds of their names.
type contents struct {
	mutex, readWrite, latch, lease []order.Entry
	kazoo                          []order.Entry
	items                          []string // a queue's items, in order
	hexes                          []string // may be leases of kazoo's semaphore
	dirs                           []string // all other children, in order
	names                          []string // all children, in order
}

// sortOut uses only the names. It recognises the name of a contender as the recipe
// itself does.
func sortOut(names []string) contents {
	c := contents{names: slices.Sorted(slices.Values(names))}
	for _, name := range c.names {
		switch {
		case add(&c.mutex, entriesOf(name, mutexNode)),
			add(&c.readWrite, entriesOf(name, readNode, writeNode)),
			add(&c.latch, entriesOf(name, latchNode)),
			add(&c.lease, entriesOf(name, leaseNode)),
			add(&c.kazoo, entriesOf(name, order.KazooKinds...)):
		case isItem(name):
			c.items = append(c.items, name)
		case isHex(name):
			c.hexes = append(c.hexes, name)
		default:
			c.dirs = append(c.dirs, name)
		}
	}
	return c
}

// add adds the entries, and reports whether there are any.
func add(to *[]order.Entry, entries iter.Seq[order.Entry]) bool {
	before := len(*to)
	*to = slices.AppendSeq(*to, entries)
	return len(*to) > before
}

func entriesOf(name string, kinds ...string) iter.Seq[order.Entry] {
	return order.InListing([]string{name}, kinds...).Each
}

// isItem reports whether an item of a queue may have this name. Such a name begins with
// kazoo's "entry-", or with Curator's "queue-" or "qn-", and ends with a sequence
// number. Another part may be in between, such as kazoo's priority.
func isItem(name string) bool {
	for _, prefix := range []string{"queue-", "qn-", "entry-"} {
		if !strings.HasPrefix(name, prefix) || len(name) < len(prefix)+sequenceWidth {
			continue
		}
		return order.IsNode(prefix+name[len(name)-sequenceWidth:], prefix)
	}
	return false
}

// sequenceWidth is the usual number of digits of a sequence number.
const sequenceWidth = 10

// isHex reports whether a name is a UUID of 32 hexadecimal digits, like the names of
// kazoo's leases.
func isHex(name string) bool {
	return len(name) == 32 && strings.Trim(name, "0123456789abcdef") == ""
}
