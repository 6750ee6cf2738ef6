package discovery

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/cache"
)

// Entry is an instance as a Directory has it. Entries are shared: do not change
// them.
type Entry struct {
	Instance

	// Since is the czxid of the instance's node. An instance that has come back
	// within the removal grace keeps the czxid of its first node.
	Since int64

	// Session is the id of the session that owns the node; 0 if it is not
	// ephemeral.
	Session int64

	czxid int64 // the node's own
	data  []byte
}

// isReplacedBy reports whether an instance has gone, and another one of its ID may
// have come.
func (e *Entry) isReplacedBy(other *Entry) bool { return other == nil || e.Since != other.Since }

// isAs reports whether two entries say the same to a reader of Changes.
func (e *Entry) isAs(other *Entry) bool {
	return e == other || e.Since == other.Since && bytes.Equal(e.data, other.data)
}

// isAt reports whether an instance is where another one of the same ID was.
func (e *Entry) isAt(other *Entry) bool { return identityOf(e.Instance) == identityOf(other.Instance) }

// goesOnWith reports whether a node goes on with an instance: it is the same node,
// or another one at the same address, which has come before the end of the entry.
// Without a removal grace, every entry ends with its node.
func (e *Entry) goesOnWith(was *Entry, grace time.Duration) bool {
	return e.czxid == was.czxid || grace > 0 && e.isAt(was)
}

// Bad is a node that is no instance, though it should be one, or that could not be
// read. An instance whose node cannot be read any more stays as it was.
type Bad struct {
	Service, ID string // the Service is empty for a node that is no service's
	Path        string // the node's
	Err         error  // the codec's, or why the node was not read

	at           place
	czxid, mzxid int64 // 0 if it was not read
}

// Snapshot is what a Directory has at one time. Snapshots are shared: do not
// change them.
type Snapshot struct {
	Entries []*Entry // ordered by their services and IDs
	Bad     []*Bad   // nodes that are no instances, in the same order

	// Zxid is the transaction as of which the directory is equal to the tree, but
	// for the removal grace. It is 0 before the first Synced.
	Zxid int64

	// Interrupted says that the snapshot may be old: there is no connection, or
	// the directory has not caught up since, has ended, or may not read what it
	// needs. Err is the refusal then.
	Interrupted bool
	Err         error

	// Filled says that the directory was filled. Without that, no entries mean
	// nothing.
	Filled bool

	pickers sync.Once
	picked  []Instance
}

// Instances returns those that want to be picked: all that are not Disabled.
// The slice is the same with each call.
func (s *Snapshot) Instances() []Instance {
	s.pickers.Do(func() {
		for _, e := range s.Entries {
			if !e.Disabled {
				s.picked = append(s.picked, e.Instance)
			}
		}
		s.picked = slices.Clip(s.picked) // a caller may append to it
	})
	return s.picked
}

// Services returns the names of the services that have instances, in order.
func (s *Snapshot) Services() (names []string) {
	for _, e := range s.Entries {
		if n := len(names); n == 0 || names[n-1] != e.Service {
			names = append(names, e.Service)
		}
	}
	return names
}

// Of returns the entries of one service.
func (s *Snapshot) Of(service string) []*Entry {
	first, _ := slices.BinarySearchFunc(s.Entries, place{service, ""}, entryAt)
	last := first
	for last < len(s.Entries) && s.Entries[last].Service == service {
		last++
	}
	return s.Entries[first:last:last]
}

// place says whose a node is.
type place struct{ service, id string }

// order compares a place with another one, by service and ID.
func (p place) order(other place) int {
	return cmp.Or(cmp.Compare(p.service, other.service), cmp.Compare(p.id, other.id))
}

func (e *Entry) place() place { return place{e.Service, e.ID} }

func entryAt(e *Entry, p place) int { return e.place().order(p) }
func badAt(b *Bad, p place) int     { return b.at.order(p) }

// next returns a snapshot that can be changed, and is as this one.
func (s *Snapshot) next() *Snapshot {
	return &Snapshot{
		Entries: slices.Clone(s.Entries), Bad: slices.Clone(s.Bad),
		Zxid: s.Zxid, Interrupted: s.Interrupted, Err: s.Err, Filled: s.Filled,
	}
}

// entry returns the entry at a place, or nil.
func (s *Snapshot) entry(at place) *Entry {
	if i, found := slices.BinarySearchFunc(s.Entries, at, entryAt); found {
		return s.Entries[i]
	}
	return nil
}

// bad is entry for a node that is no instance.
func (s *Snapshot) bad(at place) *Bad {
	if i, found := slices.BinarySearchFunc(s.Bad, at, badAt); found {
		return s.Bad[i]
	}
	return nil
}

// setEntry puts an entry into its place, or takes it away if e is nil.
func (s *Snapshot) setEntry(at place, e *Entry) { s.Entries = set(s.Entries, at, e, entryAt) }

// setBad is setEntry for a node that is no instance.
func (s *Snapshot) setBad(at place, b *Bad) { s.Bad = set(s.Bad, at, b, badAt) }

// set puts a value into its place in an ordered list, or takes the one that is
// there away.
func set[T any](list []*T, at place, v *T, compare func(*T, place) int) []*T {
	i, found := slices.BinarySearchFunc(list, at, compare)
	switch {
	case found && v != nil:
		list[i] = v
	case found:
		list = slices.Delete(list, i, i+1)
	case v != nil:
		list = slices.Insert(list, i, v)
	}
	return list
}

// sighting is what a step of the cache tells of one node.
type sighting struct {
	at     place
	gone   bool
	folder bool   // there is something below it, and that is all that is known
	entry  *Entry // an instance; or nil
	bad    *Bad   // a node that is none and should be; or nil
}

// see returns what a codec makes of a node: neither of both for one that the
// format does not take for an instance, and for one that has children.
func see(codec Codec, at place, node cache.Node) (s sighting) {
	s.at = at
	i, err := codec.Decode(at.service, at.id, node.Data)
	switch {
	case err == nil:
		i.Service, i.ID = at.service, at.id
		s.entry = &Entry{
			Instance: i, Since: node.Stat.Czxid, Session: node.Stat.EphemeralOwner, czxid: node.Stat.Czxid, data: node.Data,
		}
	case !reason.Is(err, ErrNotInstance) && node.Stat.NumChildren == 0:
		s.bad = &Bad{at.service, at.id, node.Path, err, at, node.Stat.Czxid, node.Stat.Mzxid}
	}
	return s
}
