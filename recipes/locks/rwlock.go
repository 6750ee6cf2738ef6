package locks

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/order"
	"github.com/gocurator/curator/recipes/internal/seat"
	"github.com/gocurator/curator/recipes/locktrace"
)

// InterProcessReadWriteLock is a distributed lock that many readers may hold at once, or
// one writer alone. Clients are admitted in the order of their nodes: a reader waits for
// the writers ahead of it, a writer for all contenders ahead of it. So readers cannot
// starve a writer, and writers cannot starve a reader. It is safe for concurrent use.
//
// All objects of one client and one path are the same lock, as with an InterProcessMutex.
// The client's goroutines wait in the process, in the order of arrival, and a client has
// one node in the queue for all of them. Readers share a node:
//
//   - When the node of a reader is admitted, all readers of its client that have waited
//     for it get the lock.
//   - Later readers join while a reader of their client holds the lock and no writer
//     waits. For 100 ms after the client has listed the queue, readers join without a
//     request; then one reader lists the queue again. So a writer of another client may
//     wait up to 100 ms longer than for the earlier readers. The client knows at once when
//     its own writer waits. Readers that may not join queue behind the writer.
//   - The last release deletes the node.
//   - Readers that share a node have one fencing token. Such readers are lost together, a
//     Revoke asks all of them, and Participants lists them as one.
//
// Under the context of a lease, each side re-enters. The holder of the write lock may
// take the read lock under the context of its lease. The holder gets the read lock at
// once, and keeps the read lock after the release of the write lock: no other writer gets
// the lock in between (CURATOR-621). The reverse would wait for itself forever, and
// returns ErrUpgrade.
//
// Java Curator's InterProcessReadWriteLock has the same nodes, so Java and Go processes
// can share a lock. If Java takes the read lock under its write lock, it should be
// Curator 5.5 or newer: with an older version, the release of the write lock admits a
// waiting writer, in any language. An InterProcessMutex with the same path is another
// lock.
type InterProcessReadWriteLock struct {
	read, write seat.Lock
}

// The name prefixes of both sides' nodes. Curator made them equally long for sorting.
const (
	readKind  = "__READ__"
	writeKind = "__WRIT__"
)

// NewInterProcessReadWriteLock returns the lock with this path. It does not contact the
// server. If the client is nil, or the path or an option is invalid, every acquire
// returns an error.
func NewInterProcessReadWriteLock(
	c *framework.Client, path string, opts ...ReadWriteOption,
) *InterProcessReadWriteLock {
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

// exceptWriters reports whether a contender holds the lock once the node ahead is gone. A
// writer behind a writer must read the queue first: the holder ahead may have continued
// as a reader, with a node in the same place. A reader ahead cannot continue as anything
// else. Java Curator does the same.
func exceptWriters(ours, ahead string) bool { return ours == readKind || ahead == readKind }

// ReadLock returns the side that many readers may hold at once.
func (l *InterProcessReadWriteLock) ReadLock() *ReadLock { return &ReadLock{l} }

// WriteLock returns the side that one writer holds alone.
func (l *InterProcessReadWriteLock) WriteLock() *WriteLock { return &WriteLock{l} }

// Participants returns readers and writers in the order of the queue, the holders first.
// Goroutines that wait within a process are not included.
func (l *InterProcessReadWriteLock) Participants(ctx context.Context) ([]Participant, error) {
	return participantsOf(l.read.Participants(ctx))
}

// WriteLock is the exclusive side of an InterProcessReadWriteLock.
type WriteLock struct{ of *InterProcessReadWriteLock }

// Acquire is like InterProcessMutex.Acquire, for the exclusive side. Under the context of
// a lease of the read lock alone, it returns ErrUpgrade. If the caller holds a read lock
// but does not pass its context on, Acquire waits for that read lock as for any other
// reader.
func (w *WriteLock) Acquire(ctx context.Context) (*Lease, error) { return w.acquire(ctx, true) }

// TryAcquire is Acquire without waiting for other contenders.
func (w *WriteLock) TryAcquire(ctx context.Context) (*Lease, error) { return w.acquire(ctx, false) }

// Do is like InterProcessMutex.Do.
func (w *WriteLock) Do(ctx context.Context, f func(ctx context.Context) error) error {
	return do(ctx, w, f)
}

// Participants is InterProcessReadWriteLock.Participants: it returns readers and writers.
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
