package nodes

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/internal/flight"
	"github.com/gocurator/curator/internal/insider"
)

// record is what a persistent node tells its client's flight recorder.
type record struct {
	end     func(err error) // ends what the recorder shows
	changed time.Time       // the last change between registered and not
	there   bool            // the node was registered by that change
	over    bool            // nothing goes on any more
	left    *Registration   // the node that could not be deleted; nil if its path is not known
}

// beginLocked has the client's flight recorder show the node.
func (r *record) beginLocked(n *PersistentNode) {
	r.changed = time.Now()
	r.end = insider.Of(n.client).Recorder().Followers().Registrations.Add(n.events.FullPath(), n.recorded)
}

// recorded describes the node for the flight recorder.
func (n *PersistentNode) recorded() flight.Registration {
	clock := n.clock()
	n.mu.Lock()
	defer n.mu.Unlock()
	now := flight.Registration{Path: n.events.FullPath(), Changed: n.record.changed}
	if r, there := n.registrationLocked(clock); there {
		n.recordNode(&now, &r)
		return now
	}
	switch {
	case n.failure != nil:
		now.Err = n.life.UnlessWanted(n.failure)
		now.Deleting = !n.record.over && n.mayBeLeftLocked()
		n.recordNode(&now, cmp.Or(n.now, n.record.left))
	case n.now != nil: // it is past, and nobody has noted that yet
		now.Err, now.Changed = n.whyPastLocked(clock), time.Now()
	case n.conflict != nil:
		now.Err, now.Conflict = n.conflict, true
	default:
		now.Err = n.keeping.Trouble()
	}
	return now
}

func (n *PersistentNode) recordNode(now *flight.Registration, r *Registration) {
	if r != nil {
		now.Node, now.Czxid = n.events.At(r.Path).FullPath(), r.Czxid
	}
}

// mayBeLeftLocked reports whether there may be a node that has to be deleted.
func (n *PersistentNode) mayBeLeftLocked() bool {
	return n.cfg.ttl == 0 && n.owners.Any()
}

// recordLeftover tells the flight recorder that nothing goes on any more, and
// of the error that has ended the persistent node or has left the node there.
func (n *PersistentNode) recordLeftover(failure, leftover error) {
	leftover = n.life.UnlessWanted(leftover)
	if leftover != nil {
		n.events.Emit(eventNotDeleted, leftover)
		leftover = fmt.Errorf("the node stays: %w", leftover)
	}
	n.record.end(errors.Join(n.life.UnlessWanted(failure), leftover))
}

// noteThereLocked notes when the node has come or gone.
func (n *PersistentNode) noteThereLocked() {
	if there := n.now != nil && n.failure == nil; there != n.record.there {
		n.record.there, n.record.changed = there, time.Now()
	}
}
