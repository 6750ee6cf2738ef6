package leader

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/order"
	"github.com/gocurator/curator/recipes/internal/seat"
	"github.com/gocurator/curator/recipes/locks"
)

// election is the engine of Latch and Selector: one candidate, which is a
// follower until its node is the first in the queue, and the leader until its
// work returns.
//
// The two recipes differ in how long the leader's node stays. With a Selector, the work
// has one share of the hold and the engine another, and the node is deleted when the work
// has returned. With a Latch, the lease has the only share, and the node is deleted when
// the lease ends. Only if the connection has failed does the engine of a Latch wait for
// the holder to stop; see awaitStop.
type election struct {
	queue     seat.Lock
	cfg       config
	workHolds bool // true for a Selector

	recovery follow.Recovery // the last error that keeps the candidate out of the queue
	removal  follow.Recovery // the last error of a deletion of this candidate's nodes

	mu   sync.Mutex       // protects the following fields
	now  *leadership      // the current leadership, until its work returns; or nil
	seen seat.NotAdmitted // the queue when the candidate last saw it
	left []*leftNode      // see delete
}

// leadership is one leadership, from the grant until its node is given up or kept for the
// next leadership.
type leadership struct {
	hold    *seat.Hold
	node    framework.Created
	lease   *locks.Lease    // of the holder
	stopped <-chan struct{} // closed when the holder releases a lost lease; nil if workHolds
}

// leftNode is a node that may still exist, because no server has confirmed its deletion.
// The client deletes the node in the background, unless a server has refused the
// deletion.
type leftNode struct {
	framework.Created
	err   error     // why the node may exist
	until time.Time // when the servers have ended a lost session at the latest
}

// Log lines of elections. Package recipes/internal/trace logs their acquires and holds.
var (
	eventNodeStays   = event.Kind{Warn: "leader's node stays, and is in the way of all candidates"}
	eventOverrun     = event.Kind{Warn: "leader's work goes on after the end of its leadership"}
	eventOverrunOver = event.Kind{Info: "leader's work has ended, after its leadership"}
)

// overrun is how long work may continue after its leadership before that is reported.
const overrun = 10 * time.Second

// init configures the candidate. of has the client, the path and the kind of the nodes.
func (e *election) init(of seat.Config, opts []Option) {
	for _, set := range opts {
		if set == nil {
			e.cfg.Fault = seat.IsNil("option")
			continue
		}
		set(&e.cfg)
	}
	of.Blocks, of.EntersAfter, of.WatchSelf = order.Exclusive, order.Exclusive, true
	of.NotAcquired = func(n seat.NotAcquired) error {
		e := locks.NotAcquiredError(n)
		return &e
	}
	of.Options = e.cfg.Options
	e.queue = *seat.New(of)
	e.recovery = follow.Recovery{Client: of.Client, What: "leader candidate", About: e.queue.Events().Path}
	e.removal = follow.Recovery{Client: of.Client}
}

// run follows and leads in turn. It returns the error of a follower, or the result of a
// leadership after which the candidate does not queue again.
func (e *election) run(ctx context.Context, work func(context.Context) error, again func(error) bool) error {
	e.recovery.Recovered()
	e.noteSeen(seat.NotAdmitted{})
	var kept *framework.Created
	for {
		won, err := e.runAsFollower(ctx, kept)
		if err != nil {
			return err
		}
		kept, err = e.runAsLeader(ctx, won, work)
		if kept == nil && !again(err) {
			return err
		}
	}
}

// runAsFollower queues until the candidate leads. It retries through outages, lost
// sessions and failures of servers. A node that was kept from the last leadership leads
// again if its session lives.
func (e *election) runAsFollower(ctx context.Context, kept *framework.Created) (*seat.Lease, error) {
	for {
		if ctx.Err() != nil && kept == nil {
			return nil, e.gaveUp(ctx)
		}
		stand := func(ctx context.Context, a seat.Attempt) (*seat.Hold, error) {
			return e.queue.Stand(ctx, a, *cmp.Or(kept, &framework.Created{}), seat.Candidate{
				OnBlocked: e.noteQueue, OnError: e.recovery.Note, OnAbandon: e.abandon,
			})
		}
		won, err := seat.Traced(ctx, e.queue.Describe(true), stand)
		if err == nil {
			return won, nil
		}
		kept = nil
		if ctx.Err() == nil { // otherwise the error of the wait names the leader
			e.noteSeen(seat.NotAdmitted{}) // our node is deleted, so no candidate is ahead of it
		}
		err = e.recovery.Wait(ctx, err)
		switch {
		case ctx.Err() != nil:
			return nil, e.gaveUp(ctx)
		case err != nil:
			return nil, e.queue.OpError(err)
		}
	}
}

// runAsLeader calls work under a leadership, and gives the node up when work has returned.
// The error joins the error of work, the reason of a loss, and the refusal of a deletion.
// If the node is kept for the next leadership, runAsLeader returns the node.
func (e *election) runAsLeader(
	ctx context.Context, won *seat.Lease, work func(context.Context) error,
) (kept *framework.Created, err error) {
	now := e.newLeadership(won)
	defer func() { // also if work panics
		var loss error
		if kept, loss = e.giveUp(ctx, now); loss != nil {
			err = errors.Join(err, loss)
		}
	}()
	under, done := now.lease.WithContext(ctx)
	e.setNow(ctx, now)
	returned := make(chan struct{})
	var overseer sync.WaitGroup
	overseer.Go(func() { e.oversee(under, now, returned) })
	defer func() {
		close(returned)
		done()
		overseer.Wait()
		e.setNow(ctx, nil)
	}()
	switch { // between the grant and now (CURATOR-54)
	case ctx.Err() != nil:
		return nil, reason.OfContext(ctx)
	case now.hold.Context().Err() != nil:
		return nil, nil // the defer above returns why
	case under.Err() != nil: // ctx has just ended, or its deadline has passed
		return nil, reason.OfContext(under)
	}
	return nil, work(under)
}

func (e *election) newLeadership(won *seat.Lease) *leadership {
	h := won.Hold()
	h.Seat().Watch() // a leader watches its node from the start
	e.removal.Note(nil)
	e.recovery.Recovered()
	now := &leadership{hold: h, node: h.Seat().Nodes()[0], lease: (*locks.Lease)(won)}
	if !e.workHolds {
		now.stopped = h.Lead()
	} else if joined, _ := h.Join(); joined { // otherwise the hold is already lost
		now.lease = (*locks.Lease)(h.LeaseOf(won.Context()))
	}
	return now
}

// setNow sets the current leadership, unless ctx has ended: the Shutdown that has ended
// ctx did not see this leadership.
func (e *election) setNow(ctx context.Context, now *leadership) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.now = nil; ctx.Err() == nil {
		e.now = now
	}
	e.seen, e.left = seat.NotAdmitted{}, nil // this candidate leads, so none of these nodes is ahead
}

// current returns the current leadership, which may already be lost, or nil.
func (e *election) current() *leadership {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now
}

// oversee ends the leadership after another client has asked the leader to step down, and
// reports work that continues after the end.
func (e *election) oversee(under context.Context, now *leadership, returned <-chan struct{}) {
	afterGrace(under, now.hold.Seat().RequestedByOthers(), e.cfg.grace, func() { now.hold.Lose(locks.ErrRevoked) })
	<-under.Done()
	ended := time.Now()
	late := time.NewTimer(overrun)
	defer late.Stop()
	select {
	case <-late.C:
	case <-returned:
		return
	}
	events, cause := e.queue.Events(), event.Cause(context.Cause(under))
	events.Emit(eventOverrun, nil, now.name(), cause)
	over := now.hold.Trace().Overrun()
	<-returned
	over()
	events.Emit(eventOverrunOver, nil, now.name(), cause, slog.Float64(semconv.LockOverrun, time.Since(ended).Seconds()))
}

// afterGrace calls end when a leader was asked to stop and its grace is over, unless the
// leadership ends first.
func afterGrace(leadership context.Context, asked <-chan struct{}, grace time.Duration, end func()) {
	select {
	case <-asked:
	case <-leadership.Done():
		return
	}
	if pauses.Sleep(leadership, grace) == nil {
		end()
	}
}

// name returns the attribute of a log line with the name of the leader's node.
func (l *leadership) name() slog.Attr { return slog.String(semconv.LockNode, path.Base(l.node.Path)) }

// giveUp ends a leadership. It returns the reason of a loss, joined with the server's
// error if the server refuses to delete the node. If the leadership was interrupted, and
// the candidate may lead again with the node, giveUp returns the node instead.
func (e *election) giveUp(ctx context.Context, now *leadership) (kept *framework.Created, err error) {
	cause := context.Cause(now.hold.Context())
	suspended := reason.Is(cause, framework.ErrSuspended)
	if !e.workHolds && (suspended || reason.Is(cause, framework.ErrSessionLost)) {
		stays := suspended && now.hold.Keep()
		now.awaitStop(ctx)
		if stays {
			return &now.node, nil
		}
	}
	refused := seat.RefusalsIn(e.delete(ctx, now.node, now.hold.Dissolve))
	if refused != nil {
		e.queue.Events().Emit(eventNodeStays, refused, now.name(), event.Cause(refused))
	}
	if cause = context.Cause(now.hold.Context()); reason.Is(cause, locks.ErrReleased) {
		return nil, refused
	}
	return nil, errors.Join(cause, refused)
}

// awaitStop waits until the holder of a lost lease has stopped: Lead's work has returned,
// the lease is released, or the latch is shut down. Other holders give no sign, so the
// wait ends with the safety margin at the latest. During the wait, this candidate neither
// deletes the node nor leads again with it, so the node keeps other candidates from
// leading while its session lives.
func (l *leadership) awaitStop(ctx context.Context) {
	margin := time.NewTimer(l.node.Session.SafetyMargin())
	defer margin.Stop()
	select {
	case <-l.stopped:
	case <-margin.C:
	case <-ctx.Done():
	}
	l.hold.Stopped()
}

// delete calls del to delete a node, and waits for the answer while there is a connection.
// After that, the client deletes the node in the background, and a Latch's Shutdown waits
// for the deletion. The deletion for a Latch does not end with its candidacy.
func (e *election) delete(ctx context.Context, node framework.Created, del func(context.Context) error) error {
	if !e.workHolds {
		ctx = context.WithoutCancel(ctx)
	}
	c := e.queue.Client()
	err := del(seat.WhileConnected(framework.Extend(c).OnError(ctx, e.removal.Note), c, node.Session))
	if err == nil && node.Session.Context().Err() == nil {
		e.removal.Note(nil)
		return nil
	}
	if e.workHolds {
		return err // a Selector has no Shutdown that waits for the deletion
	}
	if framework.IsConnectionError(err) {
		e.removal.Note(err) // a Shutdown may end before the next error
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.left = append(e.left, &leftNode{node, err, time.Now().Add(3 * node.Session.Timeout())})
	return err
}

// abandon deletes the node of a follower that gives up.
func (e *election) abandon(ctx context.Context, node framework.Created) {
	e.delete(ctx, node, func(ctx context.Context) error { return e.deleteNode(ctx, node) })
}

// deleteNode deletes a node. If the deletion fails, the client continues it in the
// background.
func (e *election) deleteNode(ctx context.Context, node framework.Created) error {
	c := e.queue.Client()
	ctx = framework.Extend(c).OnError(ctx, e.removal.Note)
	return c.Delete(ctx, node.Path, framework.AnyVersion, framework.WithGuarantee())
}

// awaitDeletions waits for the deletion of all left nodes. It returns an error if one of
// them may still exist.
func (e *election) awaitDeletions(ending *follow.Ending) (err error) {
	e.mu.Lock()
	left := slices.Clone(e.left)
	e.mu.Unlock()
	for _, n := range left {
		why := n.err
		if !framework.IsRefusal(why) {
			why = e.deleteNode(ending.Context(), n.Created)
		}
		switch why = ending.Err(n.Session, why); {
		case why == nil:
			e.forget(func(other *leftNode) bool { return other == n })
		case err == nil, framework.IsRefusal(why):
			err = why
		}
	}
	return err
}

// forget removes deleted nodes from the list of left nodes.
func (e *election) forget(gone func(*leftNode) bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.left = slices.DeleteFunc(e.left, gone)
}

// noteQueue records the queue that the candidate waits in, for the errors of callers that
// wait for the leadership. It also forgets left nodes whose sessions were lost so long ago
// that the servers have deleted them.
func (e *election) noteQueue(now seat.NotAdmitted) {
	e.recovery.Recovered()
	e.noteSeen(now)
	e.forget(func(n *leftNode) bool { return n.Session.Context().Err() != nil && time.Now().After(n.until) })
}

func (e *election) noteSeen(now seat.NotAdmitted) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen = now
}

// gaveUp is the error of a wait for the leadership whose context has ended. It names the
// leader and the last error.
func (e *election) gaveUp(ctx context.Context) error {
	e.mu.Lock()
	seen := e.seen
	e.mu.Unlock()
	seen.Err = e.recovery.GaveUp(ctx)
	return e.queue.Refuse(ctx, &seen)
}
