package discovery

import (
	"iter"
)

// ChangeType says what a Change is about.
type ChangeType int

// Added, Removed and Updated are about an instance, and Malformed is about a node that
// cannot be decoded. If an instance with the same ID registers at another address, the
// old instance is Removed, and then the new instance is Added. The other types are about
// the directory:
//
//   - Synced means that the directory is up to date: the changes so far are the whole
//     directory.
//   - Interrupted means that the directory keeps its instances, which may be old, until
//     the next Synced.
const (
	Added ChangeType = iota + 1
	Removed
	Updated
	Malformed
	Synced
	Interrupted
)

var changeTypes = [...]string{"none", "added", "removed", "updated", "malformed", "synced", "interrupted"}

// String returns the name of the type, in lower case.
func (t ChangeType) String() string {
	if t < 0 || int(t) >= len(changeTypes) {
		t = 0
	}
	return changeTypes[t]
}

// Change is a change of an instance or of the directory.
type Change struct {
	Type ChangeType
	Old  *Entry // for Removed and Updated: the entry as this reader last received it
	New  *Entry // for Added and Updated
	Bad  *Bad   // for Malformed
	Err  error  // for Interrupted: the refusal, if there is one

	// Now is the directory after this change and all following changes with the same
	// Now.
	Now *Snapshot
}

// between returns the differences of two snapshots: removals and updates first, then
// additions.
func between(old, now *Snapshot) iter.Seq[Change] {
	return func(yield func(Change) bool) {
		tell := func(ch Change) bool {
			ch.Now = now
			return yield(ch)
		}
		gone, come := differing(old.Entries, now.Entries)
		for _, was := range gone {
			switch is := now.entry(was.place()); {
			case is != nil && was.isAs(is):
			case !was.isReplacedBy(is) && !tell(Change{Type: Updated, Old: was, New: is}):
				return
			case was.isReplacedBy(is) && !tell(Change{Type: Removed, Old: was}):
				return
			}
		}
		for _, is := range come {
			was := old.entry(is.place())
			if (was == nil || was.isReplacedBy(is)) && !tell(Change{Type: Added, New: is}) {
				return
			}
		}
		_, bad := differing(old.Bad, now.Bad)
		for _, is := range bad {
			was := old.bad(is.at)
			isNew := was == nil || was.czxid != is.czxid || was.mzxid != is.mzxid
			if isNew && !tell(Change{Type: Malformed, Bad: is}) {
				return
			}
		}
		switch {
		case now.Interrupted && old.Interrupted && now.Filled == old.Filled && (now.Err == nil || old.Err != nil):
		case !now.Interrupted && !old.Interrupted:
		case now.Interrupted:
			tell(Change{Type: Interrupted, Err: now.Err})
		default:
			tell(Change{Type: Synced})
		}
	}
}

// differing returns two lists without their common beginning and end, which are most of
// two successive snapshots.
func differing[T comparable](old, now []T) (_, _ []T) {
	for len(old) > 0 && len(now) > 0 && old[0] == now[0] {
		old, now = old[1:], now[1:]
	}
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	return old, now
}
