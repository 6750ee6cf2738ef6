package discovery

import (
	"context"
	"iter"
)

// ChangeType says what a Change is about.
type ChangeType int

// Added, Removed and Updated are about an instance, and Malformed about a node
// that is none. An instance that was replaced by another one with its ID, at
// another address, is Removed and then Added. The others are about the
// directory:
//
//   - Synced means that it is up to date: what was told before is all there is.
//   - Interrupted means that it keeps what it has, which may be old, until the
//     next Synced.
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

// Change is what has happened to an instance, or to the directory.
type Change struct {
	Type ChangeType
	Old  *Entry // for Removed and Updated: what this reader was told before
	New  *Entry // for Added and Updated
	Bad  *Bad   // for Malformed
	Err  error  // for Interrupted: the refusal, if there is one

	// Now is the directory behind the change, and behind those that follow with
	// the same one.
	Now *Snapshot
}

// Changes returns what is in the directory, as Added and then Synced, and then
// every change, until ctx ends or the directory does. It waits until the
// directory is filled before it begins, and tells of a refusal that keeps it from
// that, as Interrupted. A refusal during an interruption is told as another one.
// The end of the directory is the last element: an empty Change, and the error
// that Err returns.
//
// A node that is malformed is told once for each version of its data. A slow
// reader holds up nobody: several changes become one, and it misses no last
// state.
func (d *Directory) Changes(ctx context.Context) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		last := &Snapshot{Interrupted: true}
		for {
			changed, ended := d.life.Changed()
			now := d.Snapshot()
			switch {
			case now != last && (now.filled || now.Err != nil):
				for ch := range between(last, now) {
					if ctx.Err() != nil || !yield(ch, nil) {
						return
					}
				}
				last = now
				continue
			case ended != nil:
				if ctx.Err() == nil {
					yield(Change{}, d.named(ended))
				}
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// between returns the differences of two snapshots.
func between(old, now *Snapshot) iter.Seq[Change] {
	return func(yield func(Change) bool) {
		tell := func(ch Change) bool {
			ch.Now = now
			return yield(ch)
		}
		for was, is := range pairs(old.Entries, now.Entries, (*Entry).place) {
			if was != nil && is != nil && was.isAs(is) {
				continue
			}
			if was != nil && is != nil && was.Since == is.Since {
				if !tell(Change{Type: Updated, Old: was, New: is}) {
					return
				}
				continue
			}
			if was != nil && !tell(Change{Type: Removed, Old: was}) || is != nil && !tell(Change{Type: Added, New: is}) {
				return
			}
		}
		for was, is := range pairs(old.Bad, now.Bad, (*Bad).place) {
			isNew := is != nil && (was == nil || was.czxid != is.czxid || was.mzxid != is.mzxid)
			if isNew && !tell(Change{Type: Malformed, Bad: is}) {
				return
			}
		}
		switch {
		case now.Interrupted && old.Interrupted && (now.Err == nil || old.Err != nil):
		case !now.Interrupted && !old.Interrupted:
		case now.Interrupted:
			tell(Change{Type: Interrupted, Err: now.Err})
		default:
			tell(Change{Type: Synced})
		}
	}
}

// pairs walks over two lists in the order of their places. A place that only one
// of them has comes with nil.
func pairs[T any](old, now []*T, at func(*T) place) iter.Seq2[*T, *T] {
	return func(yield func(was, is *T) bool) {
		for len(old)+len(now) > 0 {
			var was, is *T
			switch {
			case len(now) == 0:
				was = old[0]
			case len(old) == 0:
				is = now[0]
			default:
				order := at(old[0]).order(at(now[0]))
				if order <= 0 {
					was = old[0]
				}
				if order >= 0 {
					is = now[0]
				}
			}
			if was != nil {
				old = old[1:]
			}
			if is != nil {
				now = now[1:]
			}
			if !yield(was, is) {
				return
			}
		}
	}
}
