package locks

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/order"
	"github.com/gocurator/curator/recipes/internal/seat"
	"github.com/gocurator/curator/recipes/locktrace"
)

// InterProcessReadWriteLock is a distributed lock that many readers may hold
// at once, or one writer alone. Clients are admitted in the order of their nodes: a
// reader waits for the writers ahead of it, a writer for all contenders ahead
// of it. So a stream of readers cannot keep a writer out, nor the other way
// round. It is safe for concurrent use.
//
// All objects of one client and one path are the same lock, as with an
// InterProcessMutex. Its goroutines wait in the process, in the order of arrival,
// and a client has one node in the queue for all of them. Readers share a node:
//
//   - When the node of a reader is admitted, all readers of its client that have
//     waited for it have the lock.
//   - Readers that arrive later join as long as a reader of their client holds the
//     lock, and no writer waits. For 100 ms after the client has listed the queue,
//     they join without a request; then one of them lists it again. So a writer of
//     another client waits up to 100 ms longer than for the readers before it. A
//     writer of the same client is known at once. Readers who may not join queue
//     behind the writer.
//   - The node is deleted when the last of them releases it.
//   - Readers that share a node have one fencing token. They are lost together, a
//     Revoke asks all of them, and Participants lists them as one.
//
// Under the context of a lease, each side re-enters. The holder of the write
// lock may take the read lock under that lease's context, at once, and keep it
// when the write lock is released: no other writer comes in between
// (CURATOR-621). The reverse would wait for itself for ever and is ErrUpgrade.
//
// Java Curator's InterProcessReadWriteLock has the same nodes, so Java and Go
// processes may share a lock. If Java takes the read lock under its write lock,
// it should be Curator 5.5 or newer: with an older one, a writer that waits, in
// whatever language, comes in when the write lock is released. An
// InterProcessMutex with the same path is another lock.
type InterProcessReadWriteLock struct {
	read, write seat.Lock
}

// The names of both sides' nodes. They are equally long in Curator for the sake
// of sorting.
const (
	readKind  = "__READ__"
	writeKind = "__WRIT__"
)

// NewInterProcessReadWriteLock returns the lock with this path. It does not
// contact the server: a client, a path or an option that cannot be used is an
// error of every acquire.
func NewInterProcessReadWriteLock(c *framework.Client, path string, opts ...ReadWriteOption) *InterProcessReadWriteLock {
	side := func(kind string, reenters func(holder string) bool) seat.Lock {
		return *seat.New(seat.Config{
			Client: c, Path: path, Kind: kind, Kinds: []string{readKind, writeKind}, Readers: readKind, Op: "acquire",
			Blocks: order.ReadersAndWriters(writeKind), EntersAfter: exceptWriters,
			Recipe:      locktrace.RecipeReadWriteLock,
			Reenters:    reenters,
			NotAcquired: notAcquired,
			Options:     optionsOf(opts, ReadWriteOption.applyToReadWrite),
		})
	}
	return &InterProcessReadWriteLock{
		read:  side(readKind, func(string) bool { return true }),
		write: side(writeKind, func(holder string) bool { return !order.IsNode(holder, readKind) }),
	}
}

// exceptWriters says that a writer behind a writer has to look at the queue when
// that one is gone: its holder may have gone on as a reader, with a node in the
// same place. A reader ahead has nothing to go on as. Java Curator does the same.
func exceptWriters(ours, ahead string) bool { return ours == readKind || ahead == readKind }

// ReadLock returns the side that many may hold at once.
func (l *InterProcessReadWriteLock) ReadLock() *ReadLock { return &ReadLock{l} }

// WriteLock returns the side that one may hold alone.
func (l *InterProcessReadWriteLock) WriteLock() *WriteLock { return &WriteLock{l} }

// Participants returns readers and writers in the order of the queue, which
// begins with those that hold the lock. Goroutines that wait within a process
// are not among them.
func (l *InterProcessReadWriteLock) Participants(ctx context.Context) ([]Participant, error) {
	return participantsOf(l.read.Participants(ctx))
}

// WriteLock is the exclusive side of an InterProcessReadWriteLock.
type WriteLock struct{ of *InterProcessReadWriteLock }

// Acquire is like InterProcessMutex.Acquire, for the exclusive side. Under the
// context of a lease of the read lock alone, it returns ErrUpgrade. The lock
// cannot see a read lock whose lease's context is not passed on: Acquire waits
// for it as for anybody else's.
func (w *WriteLock) Acquire(ctx context.Context) (*Lease, error) { return w.acquire(ctx, true) }

// TryAcquire is Acquire without waiting for other contenders.
func (w *WriteLock) TryAcquire(ctx context.Context) (*Lease, error) { return w.acquire(ctx, false) }

// Do is like InterProcessMutex.Do.
func (w *WriteLock) Do(ctx context.Context, f func(ctx context.Context) error) error {
	return do(ctx, w, f)
}

// Participants is InterProcessReadWriteLock.Participants: it returns readers
// and writers.
func (w *WriteLock) Participants(ctx context.Context) ([]Participant, error) {
	return orZero(w.of).Participants(ctx)
}

func (w *WriteLock) acquire(ctx context.Context, wait bool) (*Lease, error) {
	q := &orZero(w.of).write
	if lease, err := q.Reenter(ctx); lease != nil || err != nil {
		return leaseOf(lease, err)
	}
	if seat.FromContext(ctx, orZero(w.of).read.Key()).HasShares() {
		return nil, q.OpError(ErrUpgrade)
	}
	return leaseOf(q.Acquire(ctx, wait))
}

func (w *WriteLock) describe(wait bool) locktrace.Acquire { return orZero(w.of).write.Describe(wait) }
