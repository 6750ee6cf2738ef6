package recipes

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/retry"
)

// InterProcessReadWriteLock is a distributed lock that many readers may hold at once, or one writer alone. Everybody is
// admitted in the order of arrival: a reader waits for the writers ahead of it, a writer for all who are ahead of it. So
// a stream of readers cannot keep a writer out, nor the other way round. It is safe for concurrent use.
//
// Under the context of a lease, each side re-enters. Whoever holds the write lock may take the read lock under that
// lease's context, at once, and keep it when the write lock is released: no other writer comes in between (CURATOR-621).
// The reverse would wait for itself for ever and is ErrUpgrade.
//
// Its nodes are those of Java Curator's InterProcessReadWriteLock, with which a Go process may share a lock. If Java takes
// the read lock under its write lock, it should be Curator 5.5 or newer: in older ones a writer that waits, in whatever
// language, comes in when the write lock is released. A plain InterProcessMutex with the same path is another lock.
type InterProcessReadWriteLock struct {
	read, write lock
}

// The names of both sides' nodes. They are equally long in Curator for the sake of sorting.
const (
	readKind  = "__READ__"
	writeKind = "__WRIT__"
)

// NewInterProcessReadWriteLock returns the lock with this path. It does not contact the server: a path or an option that
// cannot be used is an error of every acquire. WithLocalHandOver has no meaning here and is such an error.
func NewInterProcessReadWriteLock(c *framework.Client, path string, opts ...LockOption) *InterProcessReadWriteLock {
	kinds := []string{readKind, writeKind}
	return &InterProcessReadWriteLock{
		read:  newLock(c, path, readKind, kinds, readersAndWriters, opts, forReadWriteLocks),
		write: newLock(c, path, writeKind, kinds, readersAndWriters, opts, forReadWriteLocks),
	}
}

// readersAndWriters admits a writer that is first, and readers that are behind
// no writer. A waiter watches the nearest node that it has to wait for.
// Curator's readers watch the first writer, and all wake up with each of them.
func readersAndWriters(ours, ahead string) bool {
	return ours == writeKind || ahead == writeKind
}

// Reader returns the side that many may hold at once.
func (l *InterProcessReadWriteLock) Reader() *ReadLock { return &ReadLock{l} }

// Writer returns the side that one may hold alone.
func (l *InterProcessReadWriteLock) Writer() *WriteLock { return &WriteLock{l} }

// Participants returns readers and writers in the order of the queue, which begins with those who hold the lock.
func (l *InterProcessReadWriteLock) Participants(ctx context.Context) ([]Participant, error) {
	return l.read.participants(ctx)
}

// ReadLock is the shared side of an InterProcessReadWriteLock.
//
// The fencing tokens of readers grow in the order of admission, like all others, except that those who hold the lock
// together have different ones. A guarded resource should compare a reader's token with the largest that a writer has
// shown, and remember only those.
type ReadLock struct{ of *InterProcessReadWriteLock }

// Acquire is that of InterProcessMutex, for the shared side. Under the context of a lease of the write lock it returns at
// once.
func (r *ReadLock) Acquire(ctx context.Context) (*Lease, error) { return r.acquire(ctx, true) }

// TryAcquire is Acquire without waiting for other contenders.
func (r *ReadLock) TryAcquire(ctx context.Context) (*Lease, error) { return r.acquire(ctx, false) }

// Do is that of InterProcessMutex.
func (r *ReadLock) Do(ctx context.Context, f func(ctx context.Context) error) error {
	return do(ctx, r, f)
}

func (r *ReadLock) acquire(ctx context.Context, wait bool) (*Lease, error) {
	l := &orZero(r.of).read
	if lease, err := l.reenter(ctx); lease != nil || err != nil {
		return lease, err
	}
	writer := heldUnder(ctx, orZero(r.of).write.key)
	if writer == nil {
		return l.acquire(ctx, wait)
	}
	switch joined, err := writer.join(); {
	case err != nil:
		return nil, l.opError(err) // E7: who has lost the write lock has nothing to downgrade
	case !joined:
		return l.acquire(ctx, wait)
	}
	left := func(ctx context.Context, err error) {
		if writer.leave() { // released meanwhile
			writer.giveUpSoon(unlessDown(ctx, err)) // goes on in the background if it has to
		}
	}
	begun := false
	defer func() {
		if !begun { // the user's tracer has panicked
			left(ctx, nil)
		}
	}()
	return traced(ctx, l.describe(wait), func(ctx context.Context, a attempt) (h *hold, err error) {
		begun = true
		defer func() { left(ctx, err) }()
		h, err = r.downgrade(ctx, writer, a)
		return h, l.opError(err)
	})
}

// downgrade makes a read node in the place of the writer's, which is held all the while. It has the writer's number and
// is not sequential, and it has the writer's fencing token, because a writer that waits has a smaller one than any new
// node.
func (r *ReadLock) downgrade(ctx context.Context, writer *hold, a attempt) (*hold, error) {
	l := &r.of.read
	node, err := r.createInPlace(ctx, writer, a)
	if err != nil {
		return nil, err
	}
	if writer.ctx.Err() != nil || node.Session != writer.nodes[0].Session {
		l.loop.Client.DeleteInBackground(node.Path)
		return nil, writer.reason()
	}
	h := newHold(l.loop.Client, l.key, l.cfg.revocable, node)
	if h == nil {
		return nil, writer.reason()
	}
	h.token = writer.token
	a.trace.isDowngraded()
	return h, nil
}

// createInPlace creates the read node. Who waits outlasts every interruption that the write lock outlasts.
func (r *ReadLock) createInPlace(ctx context.Context, writer *hold, a attempt) (framework.Created, error) {
	l := &r.of.read
	name := path.Base(writer.nodes[0].Path)
	if lockloop.Overflowed(name, writeKind) { // its number is not its place
		return framework.Created{}, fmt.Errorf("%w: %s has no sequence numbers left", ErrCorrupted, l.name)
	}
	number := name[strings.LastIndex(name, writeKind)+len(writeKind):]
	under, done := context.WithCancelCause(ctx)
	defer done(nil)
	defer context.AfterFunc(writer.ctx, func() { done(context.Cause(writer.ctx)) })()
	for {
		node, err := l.loop.Client.Create(under, lockloop.Join(l.loop.Path, readKind+number), l.nodeData(a),
			framework.WithMode(framework.Ephemeral), framework.Protected())
		if err == nil {
			return node, nil
		}
		again := a.wait && lockloop.SitOut(under, l.loop.Client, err)
		switch {
		case ctx.Err() != nil:
			return node, retry.ContextError(ctx)
		case writer.ctx.Err() != nil:
			return node, writer.reason()
		case !again:
			return node, err
		}
	}
}

// WriteLock is the exclusive side of an InterProcessReadWriteLock.
type WriteLock struct{ of *InterProcessReadWriteLock }

// Acquire is that of InterProcessMutex, for the exclusive side. Under the context of a lease of the read lock alone it is
// ErrUpgrade. A read lock that is held without its lease's context being passed on cannot be seen: then Acquire waits for
// it like for everybody else's.
func (w *WriteLock) Acquire(ctx context.Context) (*Lease, error) { return w.acquire(ctx, true) }

// TryAcquire is Acquire without waiting for other contenders.
func (w *WriteLock) TryAcquire(ctx context.Context) (*Lease, error) { return w.acquire(ctx, false) }

// Do is that of InterProcessMutex.
func (w *WriteLock) Do(ctx context.Context, f func(ctx context.Context) error) error {
	return do(ctx, w, f)
}

func (w *WriteLock) acquire(ctx context.Context, wait bool) (*Lease, error) {
	l := &orZero(w.of).write
	if lease, err := l.reenter(ctx); lease != nil || err != nil {
		return lease, err
	}
	if heldUnder(ctx, orZero(w.of).read.key).claimed() {
		return nil, l.opError(ErrUpgrade)
	}
	return l.acquire(ctx, wait)
}
