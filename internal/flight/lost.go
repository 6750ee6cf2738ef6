package flight

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"weak"
)

// lost are the holds that are lost and not released. They are not in the list
// of the others, because that keeps its records in memory: a program that drops
// leases without a release would fill it for ever.
//
// The mutex of the Recorder protects all.
type lost struct {
	all   map[*lostHold]struct{}
	sweep int // how many there may be before those that were dropped go
}

// lostHold refers to the record of a lost hold.
type lostHold struct {
	record weak.Pointer[Record]
	kept   *Record         // the record, until the nodes are gone: until then, others wait for them
	nodes  context.Context // it ends when the nodes are gone
	err    error           // why the hold was lost
}

// minSweep is how many lost holds are nothing to be looked through.
const minSweep = 64

func (l *lost) addLocked(h *lostHold) {
	if l.all == nil {
		l.all, l.sweep = map[*lostHold]struct{}{}, minSweep
	}
	h.letGo()
	l.all[h] = struct{}{}
	if len(l.all) > l.sweep {
		maps.DeleteFunc(l.all, func(h *lostHold, _ struct{}) bool {
			h.letGo()
			return h.record.Value() == nil
		})
		l.sweep = max(minSweep, 2*len(l.all))
	}
}

func (l *lost) removeLocked(h *lostHold) { delete(l.all, h) }

// recordsLocked returns the records that are in memory, by the time of the
// grant, and forgets the others.
func (l *lost) recordsLocked() []*Record {
	records := make([]*Record, 0, len(l.all))
	for h := range l.all {
		h.letGo()
		if a := h.record.Value(); a != nil {
			records = append(records, a)
		} else {
			delete(l.all, h)
		}
	}
	slices.SortFunc(records, func(a, b *Record) int { return cmp.Compare(a.number, b.number) })
	return records
}

// letGo lets the garbage collector have the record, if the nodes are gone.
func (h *lostHold) letGo() {
	if h.kept != nil && h.nodes.Err() != nil {
		h.kept, h.nodes = nil, nil
	}
}
