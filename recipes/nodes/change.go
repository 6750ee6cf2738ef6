package nodes

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/broadcast"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
)

// State is what has become of a persistent node.
type State int

// The states that a Change tells of.
const (
	// Registered means that the node exists, and is ours. A Change has its
	// path and czxid.
	Registered State = iota + 1

	// Lost means that the node is gone, or may be at any moment. The error says
	// why: framework.ErrSessionLost, framework.ErrClosed, ErrNodeDeleted or
	// ErrNotTouched. The persistent node registers again by itself.
	Lost

	// Conflict means that somebody else's node is in the way. The error is a
	// *ConflictError.
	Conflict

	// Overwritten means that another client has written to the node, which is
	// still registered. The persistent node writes its data again. If the other
	// client keeps writing, the pauses between these writes grow to five seconds.
	Overwritten

	// Ended is the last Change. The error is PersistentNode.Err's.
	Ended
)

// String returns the state's name, such as "registered".
func (s State) String() string {
	names := [...]string{Registered: "registered", Lost: "lost", Conflict: "conflict", Overwritten: "overwritten", Ended: "ended"}
	if s < Registered || s > Ended {
		return "unknown"
	}
	return names[s]
}

// Change is a transition of a persistent node.
type Change struct {
	State State
	Path  string // the node's; empty for Ended
	Czxid int64  // the node's, if it is or was ours; else 0
	Err   error  // why; nil for Registered and Overwritten
}

// Registration is a node that exists and is ours.
type Registration struct {
	// Path is the node's path, with the protection prefix and the sequence
	// number, if it has them.
	Path string

	// Czxid is the id of the transaction that created the node. It grows each
	// time that the node must be created anew.
	Czxid int64

	// Session is the one in which the node was last seen. An ephemeral node
	// ends with it: Session.Context ends before.
	Session *framework.Session
}

// WaitRegistered waits until the node is there and is ours, and returns it. If
// ctx ends first, the error matches ctx.Err(), and says what it has waited for:
// a *ConflictError, or the last error of the server or of an attempt to connect.
// The node is created all the same when that is possible. If the persistent node
// has ended, the error is Err's.
func (n *PersistentNode) WaitRegistered(ctx context.Context) (Registration, error) {
	r, err := n.waitRegistered(ctx)
	return r, n.errorOf("wait registered", err)
}

func (n *PersistentNode) waitRegistered(ctx context.Context) (r Registration, err error) {
	if err := n.usable(); err != nil {
		return r, err
	}
	err = n.life.Wait(ctx, func() (there bool) {
		r, there = n.Registration()
		return there
	})
	return r, err
}

// Registration returns the node as it is now, and whether it is there and ours.
// It does not contact the server. The answer may be old when it arrives: the
// session's context knows.
func (n *PersistentNode) Registration() (Registration, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.registrationLocked()
}

// registrationLocked does not return an ephemeral node of a session that is
// over, nor one whose time to live is, even if nobody has noted that yet.
func (n *PersistentNode) registrationLocked() (Registration, bool) {
	if n.now == nil || n.failure != nil || n.whyPastLocked() != nil {
		return Registration{}, false
	}
	return *n.now, true
}

// Changes returns how things stand now, if the node is registered or in
// conflict, and then the transitions that follow this call, each of them once
// and in order, until ctx ends or the persistent node has ended. The last one is
// Ended, and comes with the error that Err returns.
//
// A slow reader delays nobody and misses nothing; it only hears later. The
// persistent node keeps in memory what a reader has not read yet, so a reader
// should leave the loop when it stops reading.
func (n *PersistentNode) Changes(ctx context.Context) iter.Seq2[Change, error] {
	now, log := n.present()
	return func(yield func(Change, error) bool) {
		for change := range log.All(ctx.Done(), n.Done(), now...) {
			var end error
			if change.State == Ended {
				end = change.Err
			}
			if ctx.Err() != nil || !yield(change, end) {
				return
			}
		}
	}
}

// present returns how things stand, as a reader of Changes is told, and the log
// of what follows.
func (n *PersistentNode) present() (now []Change, log *broadcast.Node[Change]) {
	if n.client == nil { // not made by NewPersistentNode
		return []Change{{State: Ended, Err: n.Err()}}, broadcast.New(Change{})
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.notePastLocked() // a loss that is told later is none of this reader's
	r, there := n.registrationLocked()
	switch {
	case n.failure != nil:
		now = []Change{{State: Ended, Err: n.errorOf("persistent node", n.failure)}}
	case there:
		now = []Change{{State: Registered, Path: r.Path, Czxid: r.Czxid}}
	case n.conflict != nil:
		now = []Change{{State: Conflict, Path: n.conflict.Path, Err: n.conflict}}
	}
	return now, n.last
}

// tellLocked reports a change, once, to the readers of Changes, the hooks, the log, and
// callers that wait. Nothing follows the end.
func (n *PersistentNode) tellLocked(change Change) {
	if n.failure != nil && change.State != Ended {
		return
	}
	n.last = n.last.Append(change)
	n.emitLocked(change)
	n.life.Tell()
}

// end ends the persistent node, if nothing has ended it before. The keeper still
// has to delete the node.
func (n *PersistentNode) end(why error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failure != nil {
		return
	}
	n.failure = why
	n.tellLocked(Change{State: Ended, Err: n.errorOf("persistent node", why)})
	n.life.End(why)
}

// Done is closed when the persistent node has ended, for the reason that Err
// returns.
func (n *PersistentNode) Done() <-chan struct{} { return n.life.Over().Done() }

// Err returns why the persistent node has ended, or nil if it has not. The
// reasons are:
//
//   - ErrClosed: it was shut down.
//   - framework.ErrClosed: the client was closed.
//   - ErrConflict, in a *ConflictError: somebody else's node is in the way,
//     and the policy is not to wait.
//   - An error of the server that waiting does not cure, such as zk.ErrNoAuth
//     if the client may not create the node, or not read what is at its path, or
//     zk.ErrAuthFailed if the servers refuse the client's credentials.
//
// Outages, losses of the session and servers in trouble do not end it. A
// persistent node that has ended by itself deletes its node, as Shutdown does.
func (n *PersistentNode) Err() error {
	if err := n.usable(); err != nil {
		return n.errorOf("persistent node", err)
	}
	n.mu.Lock() // readers of Changes may have been told before the life is over
	defer n.mu.Unlock()
	return n.errorOf("persistent node", cmp.Or(n.failure, n.life.Err()))
}

// noteRegistered reports whether that is news. An answer may be handled after
// its session has ended, and after the loss was told.
func (n *PersistentNode) noteRegistered(r *Registration, until time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failure != nil || n.cfg.ephemeral() && r.Session.Context().Err() != nil {
		return false
	}
	n.notePastLocked() // others may have found that it is past, and wait for its return
	isNew := n.now == nil || n.now.Czxid != r.Czxid
	if isNew {
		n.loseLocked(ErrNodeDeleted)
	}
	n.now, n.until, n.conflict = r, until, nil
	if isNew {
		n.tellLocked(Change{State: Registered, Path: r.Path, Czxid: r.Czxid})
	}
	return isNew
}

// lost notes that the node with this czxid is gone. If it was replaced or lost
// before, nothing happens.
func (n *PersistentNode) lost(czxid int64, why error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.now != nil && n.now.Czxid == czxid {
		n.loseLocked(why)
	}
}

// loseLocked notes that the node is gone, if there is one.
func (n *PersistentNode) loseLocked(why error) {
	if was := n.now; was != nil {
		n.now = nil
		n.tellLocked(Change{State: Lost, Path: was.Path, Czxid: was.Czxid, Err: why})
	}
}

// notePast notes that the node is past, and so does notePastLocked. Those who
// are called at that time, by AfterTrust or a timer, may be late.
func (n *PersistentNode) notePast() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.notePastLocked()
}

func (n *PersistentNode) notePastLocked() {
	if why := n.whyPastLocked(); why != nil && n.failure == nil {
		n.loseLocked(why)
	}
}

// whyPastLocked returns why a node that was there may be gone: its session is
// over, or its time to live. Else, and if there was none, it returns nil.
func (n *PersistentNode) whyPastLocked() error {
	switch {
	case n.now == nil:
		return nil
	case n.cfg.ephemeral():
		return context.Cause(n.now.Session.Context())
	case n.cfg.ttl > 0 && !insider.Of(n.client).Clock().Before(n.until):
		return ErrNotTouched
	}
	return nil
}

// saw notes which node a read has found at the path; the czxid is 0 if there is none.
// A registered node, or a rival, with another czxid is gone. saw reports whether the
// registered node is gone.
func (n *PersistentNode) saw(czxid int64) (isLost bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conflict != nil && n.conflict.Czxid != czxid { // the last error is why ours is not created from then on
		n.conflict = nil
	}
	n.notePastLocked()
	if n.now == nil || n.now.Czxid == czxid {
		return false
	}
	n.loseLocked(ErrNodeDeleted)
	return true
}

// conflicts notes that somebody else's node is in the way, once for each.
func (n *PersistentNode) conflicts(with *ConflictError) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conflict == nil {
		n.conflict = with
		n.tellLocked(Change{State: Conflict, Path: with.Path, Err: with})
	}
}

// overwritten notes that somebody else has written to the node.
func (n *PersistentNode) overwritten(path string, czxid int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tellLocked(Change{State: Overwritten, Path: path, Czxid: czxid})
}

// gaveUp is the error of a call whose context has ended.
func (n *PersistentNode) gaveUp(ctx context.Context) error {
	if conflict := n.inConflict(); conflict != nil {
		return fmt.Errorf("%w: %w", reason.OfContext(ctx), conflict)
	}
	return n.keeping.GaveUp(ctx)
}

// LastError returns what the node has not got over yet: a *ConflictError, the last
// error of a server, or why there is no connection. It is nil if there is
// nothing. The calls that wait have it in their errors; it is for those who wait
// for them. It does not contact the server.
func (n *PersistentNode) LastError() error {
	if n.client == nil { // not made by NewPersistentNode
		return nil
	}
	if conflict := n.inConflict(); conflict != nil {
		return conflict
	}
	return n.keeping.Obstacle()
}

func (n *PersistentNode) inConflict() *ConflictError {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.conflict
}
