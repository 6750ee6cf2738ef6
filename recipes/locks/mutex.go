package locks

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/order"
	"github.com/gocurator/curator/recipes/internal/seat"
	"github.com/gocurator/curator/recipes/locktrace"
)

// InterProcessMutex is a distributed lock: at most one holder per path across
// every client of the ensemble. Waiters are admitted in the order of their nodes.
// An InterProcessMutex is safe for concurrent use: each acquire that does not
// re-enter is another contender.
//
// All objects of one client and one path are the same lock, whichever view of the
// client they were made with. An object costs nothing: make one for each request,
// or keep it.
//
// A client has one node in the queue, however many of its goroutines want the lock.
// Clients take turns in the order of their nodes, and the goroutines of a client in
// the order of their arrival: a release deletes the client's node and, for the next
// goroutine, creates one behind those of other clients. Waiting goroutines cost the
// server nothing.
// Objects whose nodes would differ do not share a node, and count as different
// clients: see WithNodeData, WithoutIdentity and WithRevocation. So do objects of views
// with different namespaces. Each acquire has the options of its own object.
//
// A lock is held until its release or, with a minimum hold, for a while longer: see
// WithReleasePolicy.
//
// Holders and waiters are ephemeral nodes below the path, named as by Java
// Curator's InterProcessMutex, with which a Go process may share a lock. No
// other nodes should be below the path; they are ignored.
type InterProcessMutex struct {
	lock seat.Lock
}

const mutexKind = "lock-"

var mutexKinds = []string{mutexKind}

// NewInterProcessMutex returns the mutex with this path. It does not contact
// the server: a client, a path or an option that cannot be used is an error of
// every acquire. The first contender creates the path, and whatever is missing
// above it, as containers, which the server removes some time after the last.
func NewInterProcessMutex(c *framework.Client, path string, opts ...MutexOption) *InterProcessMutex {
	return &InterProcessMutex{*seat.New(seat.Config{
		Client: c, Path: path, Kind: mutexKind, Kinds: mutexKinds, Op: "acquire",
		Blocks: order.Exclusive, EntersAfter: order.Exclusive,
		Recipe:      locktrace.RecipeMutex,
		Reenters:    func(string) bool { return true },
		NotAcquired: notAcquired,
		Options:     optionsOf(opts, MutexOption.applyToMutex),
	})}
}

// Acquire waits for the mutex and returns the lease that holds it. Under the
// context of a lease of this mutex it re-enters at once, without contacting
// the server. If that lease was lost, the error is the reason of the loss,
// until the lease is released.
//
// If ctx ends first, Acquire leaves the queue and returns an error that matches
// ctx.Err() and, if others were seen to be ahead, is a *NotAcquiredError. Another
// waiting goroutine of the client takes over its node, and with it its place.
//
// Acquire waits through interruptions of the connection. It keeps its place in
// the queue as long as the session lives, and queues again in the next session
// if it does not. Any other error, such as zk.ErrNoAuth or
// framework.ErrClosed, ends the wait at once. In no case is a node left
// behind: an acquire that fails has not acquired the mutex, and its error does
// not match framework.ErrOutcomeUnknown, also if a node was being made.
func (m *InterProcessMutex) Acquire(ctx context.Context) (*Lease, error) {
	return leaseOf(m.lock.Acquire(ctx, true))
}

// TryAcquire is Acquire without waiting for other contenders: if there are any,
// it returns a *NotAcquiredError, which matches ErrNotAcquired. It still waits
// for the server's answers and, within the client's limits, for a connection.
// Tries of one object cost less than tries of an object each: see Trying in the
// package's documentation, also for what a server that lags may answer.
func (m *InterProcessMutex) TryAcquire(ctx context.Context) (*Lease, error) {
	return leaseOf(m.lock.Acquire(ctx, false))
}

// Do acquires the mutex, calls f with a context that ends with the lease and
// with ctx, and releases the mutex, whatever happens. It returns the error of
// f. If the lock was lost while f ran, the error also matches the reason of
// the loss, even if f did not notice; test for both with errors.Is. If the
// lock cannot be acquired, f is not called, and the error is Acquire's. For
// the release, Do waits no longer than Lease.Release: not at all without a
// connection. An error does not tell whether f was called, because f may return
// one that looks like Acquire's. To know that, set a variable in f.
//
// The context of f re-enters, and [LeaseFromContext] finds the lease in it, with
// its fencing token. Goroutines that f starts with it are all inside, at once:
// the lock excludes others, not the goroutines of its holder from each other.
func (m *InterProcessMutex) Do(ctx context.Context, f func(ctx context.Context) error) error {
	return do(ctx, m, f)
}

// Participants returns the contenders in the order of the queue, the holder
// first. Goroutines that wait within a process are not among them. A lock that
// is idle, see ReleasePolicy, looks as if it were held.
func (m *InterProcessMutex) Participants(ctx context.Context) ([]Participant, error) {
	return participantsOf(m.lock.Participants(ctx))
}

func (m *InterProcessMutex) describe(wait bool) locktrace.Acquire { return m.lock.Describe(wait) }
