package recipes

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/gocurator/curator/framework"
)

// hold is a claim to a lock, shared by the lease that won it and those that re-entered. It consists of nodes of one
// session: one for most locks, several for a semaphore.
type hold struct {
	client    *framework.Client
	key       any // of the lock, in the contexts of its leases
	nodes     []framework.Created
	token     int64
	guard     *guard
	revocable bool // its end is what a request to give the lock up leads to

	ctx     context.Context // ends when the claim does
	end     context.CancelCauseFunc
	revoked chan struct{} // closed by revoke
	revoke  func()
	local   *localTurn // the claim's place among the goroutines of its client; may be nil

	data []byte        // what the nodes say of us
	gone chan struct{} // closed when the nodes are given up, kept, or left to the background; nil if nobody waits for that

	unfollow func() bool // takes settle back, which the session calls when it has ended

	mu     sync.Mutex // protects the following fields
	leases int        // the claim is given up at zero and never taken again; afterwards there may be less
	kept   bool       // the nodes are the next claim's
	trace  *holdTrace // may be nil
	after  []*func()  // to be called when ctx has ended
}

// newHold returns the claim of nodes that were admitted, or nil if it was lost between the grant and now. The nodes go in
// that case.
func newHold(c *framework.Client, key any, revocable bool, nodes ...framework.Created) *hold {
	h := holdOf(c, key, revocable, nodes...)
	if h == nil {
		deleteInBackground(c, nodes)
	}
	return h
}

// holdOf is newHold for those who know what to do with nodes that cannot be trusted.
func holdOf(c *framework.Client, key any, revocable bool, nodes ...framework.Created) *hold {
	trusted := nodes[0].Session.Trusted(c.ErrorPolicy())
	if trusted.Err() != nil {
		return nil
	}
	h := &hold{client: c, key: key, nodes: nodes, token: nodes[len(nodes)-1].Czxid, revocable: revocable}
	h.begin(trusted)
	h.guard = newGuard(trusted, h)
	if revocable {
		h.guard.start()
	}
	return h
}

// successor returns a claim of another goroutine to the same nodes, or nil if it should not be passed on.
func (h *hold) successor() *hold {
	next := &hold{
		client: h.client, key: h.key, nodes: h.nodes, token: h.token, revocable: h.revocable, guard: h.guard, data: h.data,
	}
	next.begin(h.guard.ctx)
	if next.ctx.Err() != nil || !h.guard.protect(next) {
		next.unfollow()
		return nil
	}
	return next
}

func (h *hold) begin(trusted context.Context) {
	h.ctx, h.end = context.WithCancelCause(trusted)
	h.revoked = make(chan struct{})
	h.revoke = sync.OnceFunc(func() {
		close(h.revoked)
		if h.revocable {
			h.end(ErrRevoked)
		}
	})
	h.unfollow = h.nodes[0].Session.AfterTrust(h.client.ErrorPolicy(), h.settle)
}

// afterEnd has f called when the claim's context has ended, for whatever reason, and after all other contexts that end at
// the same moment. f must not block. The function returned takes that back, and reports whether it was in time.
func (h *hold) afterEnd(f func()) (stop func() bool) {
	call := &f
	h.mu.Lock()
	h.after = append(h.after, call)
	h.mu.Unlock()
	h.settle()
	return func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		n := len(h.after)
		h.after = slices.DeleteFunc(h.after, func(other *func()) bool { return other == call })
		return len(h.after) < n
	}
}

// settle does what follows the end of the claim's context, if that has ended. Whoever ends it for another reason than a
// release calls this, without a lock; for its end with the session, the session does.
func (h *hold) settle() {
	if h.ctx.Err() == nil {
		return
	}
	h.mu.Lock()
	calls := h.after
	h.after = nil
	h.mu.Unlock()
	for _, call := range calls {
		(*call)()
	}
}

// lose ends the claim's context with the reason of a loss.
func (h *hold) lose(cause error) {
	h.end(cause)
	h.settle()
}

// heldUnder returns the claim to a lock under whose lease's context ctx was made, or nil.
func heldUnder(ctx context.Context, key any) *hold {
	h, _ := ctx.Value(key).(*hold)
	return h
}

// reenter returns another lease of the lock that ctx is under, or nothing if it is under none that is still claimed. A
// lock that was lost is its end's cause: whoever asks believes to be holding it, and must not be put at the end of the
// queue without a word.
func reenter(ctx context.Context, key any) (*Lease, error) {
	h := heldUnder(ctx, key)
	if h == nil {
		return nil, nil
	}
	joined, err := h.join()
	if !joined {
		return nil, err
	}
	trace := h.followed()
	trace.reentered(ctx)
	lease := h.leaseOf(ctx)
	if trace != nil {
		lease.watch(trace.of)
	}
	return lease, nil
}

// join adds a lease to the claim, unless that was given up, or lost.
func (h *hold) join() (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.leases <= 0:
		return false, nil
	case h.ctx.Err() != nil:
		return false, context.Cause(h.ctx)
	}
	h.leases++
	return true, nil
}

// reason returns why the claim is over. Its session has ended, if not the claim itself, so that there is nothing to wait
// for but the end's way from one context to the next.
func (h *hold) reason() error {
	<-h.ctx.Done()
	return context.Cause(h.ctx)
}

// claimed reports whether somebody has a lease of the claim, lost or not.
func (h *hold) claimed() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.leases > 0
}

// newLease returns the claim's first lease.
func (h *hold) newLease(ctx context.Context) *Lease {
	h.leases = 1
	return h.leaseOf(ctx)
}

func (h *hold) leaseOf(ctx context.Context) *Lease {
	l := &Lease{hold: h}
	held, end := context.WithCancelCause(contextOf{h.ctx, h.valuesOf(ctx)})
	l.end = end
	l.workIn(held)
	return l
}

// valuesOf returns the values of ctx, by which an acquire will find that it is under this claim, without its end.
func (h *hold) valuesOf(ctx context.Context) context.Context {
	return context.WithValue(context.WithoutCancel(ctx), h.key, h)
}

// leave removes a lease, and reports whether it was the last.
func (h *hold) leave() (last bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leases--
	return h.leases == 0
}

// leaveAll removes all leases, and reports whether there were any.
func (h *hold) leaveAll() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	any := h.leases > 0
	h.leases = 0
	return any
}

// giveUp ends the claim, and passes its nodes on or deletes them. The error says why a node may still be there.
func (h *hold) giveUp(ctx context.Context) (err error) {
	defer h.isGone()
	defer h.unfollow()
	told := h.followed()
	told.releasing()
	defer func() { told.released(ctx, err) }()
	if h.local.passOn(h) {
		return nil
	}
	h.guard.end()
	h.end(ErrReleased)
	h.local.over()
	return h.deleteNodes(ctx)
}

func (h *hold) isGone() {
	if h.gone != nil {
		close(h.gone)
	}
}

// dissolve gives the claim up whoever has leases of it, and returns when the nodes are gone, or left to the background. If
// it was lost, the reason is the error, and so is the server's, if it refuses the deletion: nobody goes on with that.
func (h *hold) dissolve(ctx context.Context) error {
	if !h.leaveAll() { // the last lease is just being released
		select {
		case <-h.gone:
		case <-ctx.Done():
		}
		return nil
	}
	reason := context.Cause(h.ctx)
	switch {
	case reason == nil, errors.Is(reason, ErrReleased): // whoever has ended it leaves the rest to us
		return h.giveUp(ctx)
	case errors.Is(reason, ErrRevoked): // the nodes are as good as before
		defer h.isGone()
		h.unfollow()
		h.guard.end()
		if err := h.deleteNodes(ctx); framework.IsRefusal(err) {
			reason = errors.Join(reason, err)
		}
	default:
		h.giveUpLost()
	}
	h.followed().tellEnd(ctx)
	return reason
}

// keep takes the nodes from a claim that is lost, for the next claim to them. It reports false if they are another's by
// right: the claim was given up before, so that they are on their way out, or was asked for.
func (h *hold) keep() bool {
	select {
	case <-h.revoked:
		return false
	default:
	}
	if !h.leaveAll() {
		return false
	}
	h.mu.Lock()
	h.kept = true
	h.mu.Unlock()
	defer h.isGone()
	h.unfollow()
	h.guard.leave()
	return true
}

// wasKept reports whether the nodes are the next claim's.
func (h *hold) wasKept() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.kept
}

// giveUpLost deletes the nodes of a claim that is lost. They may still be there, and in others' way, for as long as the
// server keeps the session, but nobody has to wait for their deletion.
func (h *hold) giveUpLost() {
	defer h.isGone()
	h.unfollow()
	h.guard.end()
	h.local.over()
	deleteInBackground(h.client, h.nodes)
}

func deleteInBackground(c *framework.Client, nodes []framework.Created) {
	for _, n := range nodes {
		c.DeleteInBackground(n.Path)
	}
}
