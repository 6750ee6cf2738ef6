package recipes

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/gocurator/curator/framework"
)

// Lease is a held lock, or a leadership. It is held exactly as long as its context is alive. A lock's must be released.
// A Lease is safe for concurrent use, and any goroutine may release it.
//
// A lock whose lease is dropped without a release stays held as long as the session. It is not released when the garbage
// collector takes the lease, since a program may mean to hold a lock for the rest of its life. But the client's logger
// gets a line of level Warn then, which names the lock's path and node: once, and some time later. Keep the lease, or a
// context of it, to say that this is meant.
type Lease struct {
	hold     *hold
	ctx      context.Context
	held     context.Context // the same, but it does not lead to the lease
	end      context.CancelCauseFunc
	released atomic.Bool
	unwatch  func() // it need not be reported any more if it is dropped; may be nil
}

// watch has the lease reported if it is dropped while the lock is held. The report must not lead to the lease.
func (l *Lease) watch(of Acquire) {
	h, log := l.hold, of.Client.Logger()
	if !log.Enabled(l.held, slog.LevelWarn) {
		return
	}
	l.unwatch = framework.OnDrop(of.Client, l, func() {
		if h.ctx.Err() == nil { // a leadership's lease needs no release, but has ended by now
			log.LogAttrs(h.followed().context(), slog.LevelWarn, "lease dropped without a release; its lock stays held",
				h.attributes(of)...)
		}
	})
}

// Context ends when the lock is not held any more, or can no longer be trusted to be: work under it, and stop when it
// ends. Its cause, from context.Cause, is the reason:
//
//   - ErrReleased: the lease was released;
//   - framework.ErrSessionLost: the session is over, or its time is up because no server has answered;
//   - framework.ErrSuspended: the connection broke, if the client's error policy treats that as loss;
//   - ErrNodeDeleted: somebody deleted the lock's node;
//   - ErrRevoked: somebody asked for the lock, and it is Revocable, or for the leadership;
//   - framework.ErrClosed: the client was closed.
//
// It carries the values of the context that the lease was acquired with, but neither its deadline nor its end, since
// that context may have been meant for the wait alone; see Under. An acquire of the same lock under this context
// re-enters it.
func (l *Lease) Context() context.Context { return l.ctx }

// Under returns a copy of ctx that ends with the lease, too, whichever is first. It is for work that should also stop
// when a request is cancelled, and for holding two locks: b.Under(a.Context()) ends with either. An acquire under it
// re-enters the lock.
//
// The lease's end reaches it at once, with the lease's cause; the end of ctx, within the time that it takes to start a
// goroutine. As with every derived context, the function returned must be called when the work is done; it does not
// release the lease.
func (l *Lease) Under(ctx context.Context) (context.Context, context.CancelFunc) {
	return endingWith(leaseContext{l.joined(ctx), l}, ctx)
}

// endingWith returns a context that ends with under, of a lease, and with ctx.
func endingWith(under, ctx context.Context) (context.Context, context.CancelFunc) {
	stopTimer := func() {}
	if deadline, ok := ctx.Deadline(); ok {
		under, stopTimer = context.WithDeadline(under, deadline)
	}
	under, end := context.WithCancelCause(under)
	stop := context.AfterFunc(ctx, func() {
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) { // the timer sees to that
			end(context.Cause(ctx))
		}
	})
	return under, func() {
		stop()
		end(nil)
		stopTimer()
	}
}

// FencingToken returns a number that grows from each holder of this lock to the next, across session losses and
// deletion of the lock's path. A resource that remembers the largest token it has seen, and refuses smaller ones, is
// safe even from a holder that was stopped for so long that it does not know of its loss. Leases that re-enter a lock
// have its token, and so have those that WithLocalHandOver passes it on to. Of several leases of a semaphore it is the
// last one's; since others hold theirs at the same time, a resource cannot refuse smaller ones there.
//
// It is the czxid of the holder's node: a Java holder finds its own in that node's Stat.
func (l *Lease) FencingToken() int64 { return l.hold.token }

// Path returns the path of the holder's node, for the view of the client that the lock was made with; of the first, if
// there are several. No other node ever has its name.
func (l *Lease) Path() string { return l.hold.nodes[0].Path }

// Checks returns checks for transactions of the client, or the view of it, that the lock was made with. Such a transaction
// is carried out only while the holder's nodes exist, and nobody else is admitted while they do. Otherwise it fails with
// a *framework.TxnError that matches zk.ErrNoNode, whether its caller knows of the loss or not. For data in ZooKeeper, that
// is the strongest fence there is. (With WithLocalHandOver, another goroutine of this process may have the same node.)
func (l *Lease) Checks() []framework.TxnOp {
	var checks []framework.TxnOp
	for _, n := range l.hold.nodes {
		checks = append(checks, framework.CheckOp(n.Path, framework.AnyVersion))
	}
	return checks
}

// Revoked is closed when somebody asks the holder to give the lock up; see Revoke. The first call begins to look out for
// that, and notices also what was asked before it.
func (l *Lease) Revoked() <-chan struct{} {
	l.hold.guard.start()
	return l.hold.revoked
}

// Release gives the lock up and ends the lease's context before it tells the server. The last release of a lock that
// was re-entered is the one that frees it.
//
// An error is something that the caller can act on:
//
//   - the lease was lost before: the reason of the loss;
//   - the server refuses to delete the node, for want of rights, so that it
//     stays as long as the session: framework.IsRefusal;
//   - the lease was released already: ErrReleased.
//
// In every other case the node goes, and Release returns nil. It waits for the
// server's answer, but no longer than until ctx ends, the connection breaks, or
// the session ends. If ctx has ended, or there is no connection, it does not
// wait at all. The client then goes on by itself until the node is gone; until
// then, the next acquire finds it ahead. So
//
//	defer lease.Release(ctx)
//
// is right for any ctx. No release can delete another holder's node.
func (l *Lease) Release(ctx context.Context) error {
	err := l.release(ctx)
	if err != nil {
		return &framework.OpError{Op: "release", Path: l.Path(), Err: err}
	}
	return nil
}

func (l *Lease) release(ctx context.Context) error {
	if !l.released.CompareAndSwap(false, true) {
		return ErrReleased
	}
	if l.unwatch != nil {
		l.unwatch()
	}
	l.end(ErrReleased)
	reason := context.Cause(l.ctx) // the first one
	lost := !errors.Is(reason, ErrReleased)
	switch last := l.hold.leave(); {
	case lost && last:
		l.hold.giveUpLost()
		l.hold.followed().tellEnd(ctx) // what the tracer makes of it is not lost if the program ends
		return reason
	case lost:
		return reason
	case last:
		return l.hold.giveUpSoon(ctx)
	default:
		return nil
	}
}
