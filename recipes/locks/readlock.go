package locks

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/order"
	"github.com/gocurator/curator/recipes/internal/seat"
	"github.com/gocurator/curator/recipes/locktrace"
)

// ReadLock is the shared side of an InterProcessReadWriteLock.
//
// Readers that share a node have the same fencing token, so a reader may have a smaller
// token than an earlier reader of another client. No reader has a smaller token than an
// earlier writer. A guarded resource should compare a reader's token with the largest
// writer's token it has seen, and remember only writers' tokens.
type ReadLock struct{ of *InterProcessReadWriteLock }

// Acquire is like InterProcessMutex.Acquire, for the shared side. Under the context of a
// lease of the write lock, it returns at once.
func (r *ReadLock) Acquire(ctx context.Context) (*Lease, error) { return r.acquire(ctx, true) }

// TryAcquire is Acquire without waiting for other contenders.
func (r *ReadLock) TryAcquire(ctx context.Context) (*Lease, error) { return r.acquire(ctx, false) }

// Do is like InterProcessMutex.Do.
func (r *ReadLock) Do(ctx context.Context, f func(ctx context.Context) error) error {
	return do(ctx, r, f)
}

// Participants is InterProcessReadWriteLock.Participants: it returns readers and writers.
func (r *ReadLock) Participants(ctx context.Context) ([]Participant, error) {
	return orZero(r.of).Participants(ctx)
}

func (r *ReadLock) describe(wait bool) locktrace.Acquire { return orZero(r.of).read.Describe(wait) }

func (r *ReadLock) acquire(ctx context.Context, wait bool) (lease *Lease, err error) {
	q := &orZero(r.of).read
	if lease, err := q.Reenter(ctx); lease != nil || err != nil {
		return leaseOf(lease, err)
	}
	writer := seat.FromContext(ctx, orZero(r.of).write.Key())
	if writer == nil {
		return leaseOf(q.Acquire(ctx, wait))
	}
	switch joined, err := writer.Join(); {
	case err != nil: // the write lock is lost, so there is nothing to downgrade
		return nil, q.OpError(err)
	case !joined:
		return leaseOf(q.Acquire(ctx, wait))
	}
	defer func() {
		left := false
		defer func() {
			if lease != nil && !left { // a hook has panicked
				lease.Release(ctx)
			}
		}()
		writer.Leave(ctx, err)
		left = true
	}()
	return leaseOf(seat.Traced(ctx, q.Describe(wait), func(ctx context.Context, a seat.Attempt) (*seat.Hold, error) {
		h, err := r.downgrade(ctx, writer, a)
		return h, q.OpError(err)
	}))
}

// downgrade creates a read node in the place of the writer's node, while the writer holds
// the lock. The read node has the writer's number and is not sequential. The fencing
// token is the writer's, because a waiting writer has a smaller token than any new node.
// If an operator has deleted the writer's node, the server creates no read node, and the
// write lock is lost.
func (r *ReadLock) downgrade(ctx context.Context, writer *seat.Hold, a seat.Attempt) (*seat.Hold, error) {
	q := &r.of.read
	data := q.NodeData(a)
	node, err := r.createInPlace(ctx, writer, data, a.Wait)
	if isGone(err) {
		writer.Seat().NodeDeleted()
		return nil, writer.Loss()
	}
	if err != nil {
		return nil, err
	}
	if writer.Context().Err() == nil && node.Session == writer.Seat().Nodes()[0].Session {
		if h := writer.Beside(q, node, data); h != nil {
			return h, nil
		}
	}
	framework.Extend(q.Client()).DeleteInBackground(node.Path)
	return nil, writer.Loss()
}

// checkOfWriter is the index of the check of the writer's node in the transaction that
// creates the read node.
const checkOfWriter = 0

// isGone reports whether the server has refused to create the read node because the
// writer's node does not exist.
func isGone(err error) bool {
	var failed *framework.TxnError
	return reason.As(err, &failed) && failed.Index == checkOfWriter && reason.Is(err, zk.ErrNoNode)
}

// createInPlace creates the read node in a transaction that checks that the writer's node
// exists. The check is necessary: another client may have deleted the writer's node, and
// the next writer may hold the lock already, before this writer has learned of it. An
// acquire that waits retries through every interruption that the write lock survives.
func (r *ReadLock) createInPlace(
	ctx context.Context, writer *seat.Hold, data []byte, wait bool,
) (node framework.Created, err error) {
	q := &r.of.read
	name := path.Base(writer.Seat().Nodes()[0].Path)
	if order.Overflowed(name, writeKind) { // an overflowed number does not give the place in the queue
		return node, fmt.Errorf("%w: %s has no sequence numbers left", ErrCorrupted, printable.String(q.Path()))
	}
	number := name[strings.LastIndex(name, writeKind)+len(writeKind):]
	held := writer.Context()
	under, done := context.WithCancelCause(ctx)
	defer done(nil)
	defer context.AfterFunc(held, func() { done(context.Cause(held)) })()
	recovery := follow.Recovery{Client: q.Client(), Ends: func(err error) bool { return !wait || seat.EndsAcquire(err) }}
	err = recovery.Until(under, func(ctx context.Context) (err error) {
		results, err := q.Client().Transaction(ctx,
			framework.CheckOp(znode.Join(q.Path(), name), framework.AnyVersion),
			framework.CreateOp(znode.Join(q.Path(), readKind+number), data,
				framework.WithMode(framework.Ephemeral), framework.WithProtection()))
		if err == nil {
			made := results[len(results)-1]
			node = framework.Created{Path: made.Path, Czxid: made.Zxid, Session: made.Session}
		}
		return err
	})
	switch {
	case err == nil:
		return node, nil
	case ctx.Err() != nil:
		return node, seat.Settled(recovery.GaveUp(ctx))
	case held.Err() != nil:
		return node, writer.Loss()
	}
	return node, seat.Settled(err)
}
