package nodes

import (
	"errors"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/flight"
)

// record is what a persistent node tells its client's flight recorder.
type record struct {
	remove  func()    // has the recorder forget the node
	changed time.Time // between registered and not, for the last time
	there   bool      // as of then
}

// beginLocked has the client's flight recorder show the node.
func (r *record) beginLocked(n *PersistentNode) {
	r.changed = time.Now()
	r.remove = framework.Extend(n.client).Recorder().AddRegistration(n.recorded)
}

// recorded describes the node for the flight recorder.
func (n *PersistentNode) recorded() flight.Registration {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := flight.Registration{Path: n.fullPath(n.path), Changed: n.record.changed}
	if r, there := n.registrationLocked(); there {
		now.Node, now.Czxid = n.fullPath(r.Path), r.Czxid
		return now
	}
	switch {
	case n.failure != nil:
		now.Err = n.failure
	case n.conflict != nil:
		now.Err = n.conflict
	default:
		now.Err = n.trouble
	}
	return now
}

// recordLocked tells the flight recorder of a change.
func (n *PersistentNode) recordLocked(change Change) {
	if !n.started {
		return
	}
	if there := n.now != nil && n.failure == nil; there != n.record.there {
		n.record.there, n.record.changed = there, time.Now()
	}
	e := flight.Event{Kind: flight.NodeChanged, Name: change.State.String(), Path: n.fullPath(n.path), Err: change.Err}
	if change.State == Ended && (errors.Is(change.Err, ErrClosed) || errors.Is(change.Err, framework.ErrClosed)) {
		e.Err = nil // the user wanted that
	}
	if change.State == Overwritten {
		e.Kind = flight.NodeOverwritten
	}
	framework.Extend(n.client).Recorder().Add(e)
}

func (n *PersistentNode) fullPath(path string) string {
	return framework.Extend(n.client).FullPath(path)
}
