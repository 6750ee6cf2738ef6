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

// Entry is an instance in a Directory. Entries are shared: do not change them.
type Entry struct {
	Instance

	// Since is the czxid of the instance's node. If the node is deleted and re-created
	// within the removal grace, the instance keeps the czxid of the first node.
	Since int64

	// Session is the id of the session that owns the node, or 0 if the node is not
	// ephemeral.
	Session int64

	czxid int64 // of the current node
	data  []byte
}

// isReplacedBy reports whether an instance has left, and possibly another instance has
// registered with its ID.
func (e *Entry) isReplacedBy(other *Entry) bool { return other == nil || e.Since != other.Since }

// isAs reports whether two entries are equal to a reader of Changes.
func (e *Entry) isAs(other *Entry) bool {
	return e == other || e.Since == other.Since && bytes.Equal(e.data, other.data)
}

// isAt reports whether two instances with one ID have the same address and ports.
func (e *Entry) isAt(other *Entry) bool { return identityOf(e.Instance) == identityOf(other.Instance) }

// goesOnWith reports whether a node continues an entry: the node is the entry's own, or
// has the same address and was created before the entry ended. Without a removal grace,
// every entry ends with its node.
func (e *Entry) goesOnWith(was *Entry, grace time.Duration) bool {
	return e.czxid == was.czxid || grace > 0 && e.isAt(was)
}

// Bad is a node that cannot be decoded or read. If the node of an instance becomes
// unreadable, the instance stays in the directory unchanged.
type Bad struct {
	Service, ID string // Service is empty if the node belongs to no service
	Path        string // of the node
	Err         error  // the error of the codec or of the read

	at           place
	czxid, mzxid int64 // 0 if the node was not read
}

// Snapshot is the state of a Directory at one time. Snapshots are shared: do not change
// them.
type Snapshot struct {
	Entries []*Entry // ordered by service and ID
	Bad     []*Bad   // malformed and unreadable nodes, in the same order

	// Zxid is the transaction as of which the directory equals the tree, except for the
	// removal grace. It is 0 before the first Synced.
	Zxid int64

	// Interrupted means that the snapshot may be old: the client is not connected, or
	// the directory has not caught up yet, has ended, or may not read its path. In the
	// last case, Err is the refusal.
	Interrupted bool
	Err         error

	// Filled means that the directory was filled. Until then, it has no entries.
	Filled bool

	pickers sync.Once
	picked  []Instance
}

// Instances returns all instances that are not Disabled. Each call returns the same
// slice.
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

// place is the service and ID of a node.
type place struct{ service, id string }

// order compares two places by service and ID.
func (p place) order(other place) int {
	return cmp.Or(cmp.Compare(p.service, other.service), cmp.Compare(p.id, other.id))
}

func (e *Entry) place() place { return place{e.Service, e.ID} }

func entryAt(e *Entry, p place) int { return e.place().order(p) }
func badAt(b *Bad, p place) int     { return b.at.order(p) }

// next returns a copy that can be changed.
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

// bad returns the Bad node at a place, or nil.
func (s *Snapshot) bad(at place) *Bad {
	if i, found := slices.BinarySearchFunc(s.Bad, at, badAt); found {
		return s.Bad[i]
	}
	return nil
}

// setEntry sets the entry at a place, or removes the entry if e is nil.
func (s *Snapshot) setEntry(at place, e *Entry) { s.Entries = set(s.Entries, at, e, entryAt) }

// setBad sets the Bad node at a place, or removes it if b is nil.
func (s *Snapshot) setBad(at place, b *Bad) { s.Bad = set(s.Bad, at, b, badAt) }

// set sets the value at a place of an ordered list, or removes it if v is nil.
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

// sighting is one node in a step of the cache.
type sighting struct {
	at     place
	gone   bool
	folder bool   // the node has a child; nothing else is known
	entry  *Entry // nil if the node is no instance
	bad    *Bad   // nil unless the node is malformed
}

// see decodes a node. If the node is not meant to be an instance, or is malformed but
// has children, the result has neither an entry nor a Bad.
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
