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

// State is the state of a persistent node.
type State int

// The states that a Change reports.
const (
	// Registered means that the node exists and belongs to this client. The Change has
	// its path and czxid.
	Registered State = iota + 1

	// Lost means that the node is gone, or may be gone at any moment. The error is the
	// reason: framework.ErrSessionLost, framework.ErrClosed, ErrNodeDeleted or
	// ErrNotTouched. The persistent node registers again by itself.
	Lost

	// Conflict means that another client's node is in the way. The error is a
	// *ConflictError.
	Conflict

	// Overwritten means that another client has written to the node, which is still
	// registered. The persistent node writes its data again. If the other client keeps
	// writing, the pauses between these writes grow to five seconds.
	Overwritten

	// Ended is the last Change. The error is the result of PersistentNode.Err.
	Ended
)

// String returns the state's name, such as "registered".
func (s State) String() string {
	names := [...]string{Registered: "registered", Lost: "lost", Conflict: "conflict",
		Overwritten: "overwritten", Ended: "ended"}
	if s < Registered || s > Ended {
		return "unknown"
	}
	return names[s]
}

// Change is a transition of a persistent node.
type Change struct {
	State State
	Path  string // of the node; empty for Ended
	Czxid int64  // of the node, if it belongs or belonged to this client; else 0
	Err   error  // the reason; nil for Registered and Overwritten
}

// Registration describes a node that exists and belongs to this client.
type Registration struct {
	// Path is the path of the node, including any protection prefix and sequence number.
	Path string

	// Czxid is the id of the transaction that created the node. It grows each time the
	// node is re-created.
	Czxid int64

	// Session is the session in which the node was last seen. An ephemeral node ends with
	// its session; Session.Context ends before that.
	Session *framework.Session
}

// WaitRegistered waits until the node is registered, and returns its Registration. If ctx
// ends first, the error matches ctx.Err() and includes the reason for the wait: a
// *ConflictError, or the last error of the server or of a connection attempt. The client
// keeps trying to create the node. If the persistent node has ended, the error is the
// result of Err.
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

// Registration returns the node's current registration, and whether the node is
// registered. It does not contact the server. The result may be outdated on return; to
// learn that the registration has ended, use the session's context.
func (n *PersistentNode) Registration() (Registration, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.registrationLocked()
}

// registrationLocked never returns an ephemeral node whose session is over, or a node
// whose time to live is over, even before the loss is recorded.
func (n *PersistentNode) registrationLocked() (Registration, bool) {
	if n.now == nil || n.failure != nil || n.whyPastLocked() != nil {
		return Registration{}, false
	}
	return *n.now, true
}

// Changes returns the current state, if the node is registered or in conflict, and then
// every later transition, once and in order, until ctx ends or the persistent node has
// ended. The last Change is Ended, together with the error that Err returns.
//
// A slow reader blocks nothing and misses nothing; it only receives changes later. The
// persistent node keeps unread changes in memory, so leave the loop when you stop
// reading.
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

// present returns the current state as the first changes of a reader, and the log of
// later changes.
func (n *PersistentNode) present() (now []Change, log *broadcast.Node[Change]) {
	if n.client == nil { // not made by NewPersistentNode
		return []Change{{State: Ended, Err: n.Err()}}, broadcast.New(Change{})
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.notePastLocked() // this reader must not receive an earlier loss
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

// tellLocked reports a change once: to the readers of Changes, the hooks, the log, and
// waiting calls. After Ended it reports nothing.
func (n *PersistentNode) tellLocked(change Change) {
	if n.failure != nil && change.State != Ended {
		return
	}
	n.last = n.last.Append(change)
	n.emitLocked(change)
	n.life.Tell()
}

// end ends the persistent node, if it has not ended yet. The keeper still has to delete
// the node.
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

// Done is closed when the persistent node has ended. Err returns the reason.
func (n *PersistentNode) Done() <-chan struct{} { return n.life.Over().Done() }

// Err returns why the persistent node has ended, or nil if it has not. The reasons are:
//
//   - ErrClosed: the node was shut down.
//   - framework.ErrClosed: the client was closed.
//   - ErrConflict, in a *ConflictError: another client's node is in the way, and the
//     policy is not Wait.
//   - A server's error that a retry would not cure: for example zk.ErrNoAuth if the client
//     may not create the node or not read the node at its path, or zk.ErrAuthFailed if the
//     servers refuse the client's credentials.
//
// Outages, lost sessions and failing servers do not end it. A persistent node that has
// ended by itself deletes its node, as Shutdown does.
func (n *PersistentNode) Err() error {
	if err := n.usable(); err != nil {
		return n.errorOf("persistent node", err)
	}
	n.mu.Lock() // readers of Changes may see the end before the life is over
	defer n.mu.Unlock()
	return n.errorOf("persistent node", cmp.Or(n.failure, n.life.Err()))
}

// noteRegistered reports whether the registration is new. A reply may be handled after
// its session has ended and the loss was reported.
func (n *PersistentNode) noteRegistered(r *Registration, until time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failure != nil || n.cfg.ephemeral() && r.Session.Context().Err() != nil {
		return false
	}
	n.notePastLocked() // other callers may have seen the loss, and wait for the next registration
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

// lost records that the node with this czxid is gone. It does nothing if that node was
// already replaced or lost.
func (n *PersistentNode) lost(czxid int64, why error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.now != nil && n.now.Czxid == czxid {
		n.loseLocked(why)
	}
}

// loseLocked reports the loss of the node, if one is registered.
func (n *PersistentNode) loseLocked(why error) {
	if was := n.now; was != nil {
		n.now = nil
		n.tellLocked(Change{State: Lost, Path: was.Path, Czxid: was.Czxid, Err: why})
	}
}

// notePast reports the loss of a node whose session or time to live is over. AfterTrust
// and timers may call too late, so other methods check, too.
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

// whyPastLocked returns why a registered node may be gone: the session or the time to
// live is over. Otherwise it returns nil.
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

// saw records which node a read has found at the path; czxid is 0 if there is none. If
// the czxid differs, the registered node or the rival is gone. saw returns true if the
// registered node is gone.
func (n *PersistentNode) saw(czxid int64) (isLost bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conflict != nil && n.conflict.Czxid != czxid { // from now on, the last error says why our node is missing
		n.conflict = nil
	}
	n.notePastLocked()
	if n.now == nil || n.now.Czxid == czxid {
		return false
	}
	n.loseLocked(ErrNodeDeleted)
	return true
}

// conflicts reports that another client's node is in the way, once per node.
func (n *PersistentNode) conflicts(with *ConflictError) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conflict == nil {
		n.conflict = with
		n.tellLocked(Change{State: Conflict, Path: with.Path, Err: with})
	}
}

// overwritten reports that another client has written to the node.
func (n *PersistentNode) overwritten(path string, czxid int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tellLocked(Change{State: Overwritten, Path: path, Czxid: czxid})
}

// gaveUp returns the error of a call whose context has ended.
func (n *PersistentNode) gaveUp(ctx context.Context) error {
	if conflict := n.inConflict(); conflict != nil {
		return fmt.Errorf("%w: %w", reason.OfContext(ctx), conflict)
	}
	return n.keeping.GaveUp(ctx)
}

// LastError returns the problem that keeps the node from being registered or up to date:
// a *ConflictError, the last error of a server, or the reason why there is no connection.
// It is nil if there is no problem. LastError does not contact the server. Use it while a
// call waits; calls that fail have the same error in theirs.
func (n *PersistentNode) LastError() error {
	if n.client == nil { // not made by NewPersistentNode
		return nil
	}
	if conflict := n.inConflict(); conflict != nil {
		return conflict
	}
	return n.keeping.WhyWaiting()
}

func (n *PersistentNode) inConflict() *ConflictError {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.conflict
}
