package zktest

import (
	"errors"
	"fmt"
	"slices"
)

// Partition cuts the network between the given members and all others. Among
// themselves they stay connected, unless an earlier call has cut them apart: a
// further call only adds cuts. Clients reach them as before. The members notice
// the cut in their own time, as in reality: see MODEL.md in this folder.
//
// No members, all members, a nil member and one of another ensemble are
// refused: they fail the test of the ensemble, and are an error for an ensemble
// of [RunEnsemble].
func (e *Ensemble) Partition(members ...*Member) error {
	if err := e.checkPartition(members); err != nil {
		return e.misuse("%w", err)
	}
	e.mu.Lock()
	defer e.unlock()
	e.partitionLocked(members...)
	return nil
}

func (e *Ensemble) checkPartition(members []*Member) error {
	for i, m := range members {
		if !slices.Contains(e.members, m) {
			return fmt.Errorf("a partition whose member %d of %d is nil, or not of this ensemble", i+1, len(members))
		}
	}
	if len(members) == 0 {
		return errors.New("a partition of no member")
	}
	if !slices.ContainsFunc(e.members, func(m *Member) bool { return !slices.Contains(members, m) }) {
		return errors.New("a partition of all members, which leaves nobody to be cut off from")
	}
	return nil
}

// partitionLocked splits each part of the network into the given members and
// the others.
func (e *Ensemble) partitionLocked(members ...*Member) {
	type side struct {
		part  int
		given bool
	}
	parts := make(map[side]int)
	for _, m := range e.members {
		of := side{m.part, slices.Contains(members, m)}
		if _, known := parts[of]; !known {
			parts[of] = len(parts)
		}
		m.part = parts[of]
	}
	e.updateLocked()
}

// Heal ends every [Ensemble.Partition]. A member gets at once all that it has
// missed; a member that had given up its leader joins again. Use [Server.Heal]
// for the black holes of a member's clients.
func (e *Ensemble) Heal() {
	e.mu.Lock()
	defer e.unlock()
	for _, m := range e.members {
		m.part = 0
	}
	e.updateLocked()
}
