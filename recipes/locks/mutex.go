package locks

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/order"
	"github.com/gocurator/curator/recipes/internal/seat"
	"github.com/gocurator/curator/recipes/locktrace"
)

// InterProcessMutex is a distributed lock: at most one holder per path across every
// client of the ensemble. Waiters are admitted in the order of their nodes. An
// InterProcessMutex is safe for concurrent use: each acquire that does not re-enter is a
// separate contender.
//
// All objects of one client and one path are the same lock, whichever view of the client
// they were made with. An object is cheap: make one for each request, or keep it.
//
// A client has one node in the queue, however many of its goroutines want the lock.
// Clients take turns in the order of their nodes, and the goroutines of a client in the
// order of their arrival. A release deletes the client's node. If another goroutine of
// the client waits, the client creates a new node at the end of the queue. Waiting
// goroutines cost the server nothing. Objects whose nodes would differ do not share a
// node, and count as different clients: see WithNodeData, WithoutIdentity and
// WithRevocation. The same is true for objects of views with different namespaces. Each
// acquire uses the options of the object on which it is called.
//
// A lock is held until its release or, with a minimum hold, for a while longer: see
// WithReleasePolicy.
//
// Holders and waiters are ephemeral nodes below the path. Their names are the same as in
// Java Curator's InterProcessMutex, so Go and Java processes can share a lock. Keep no
// other nodes below the path; they are ignored.
type InterProcessMutex struct {
	lock seat.Lock
}

const mutexKind = "lock-"

var mutexKinds = []string{mutexKind}

// NewInterProcessMutex returns the mutex with this path. It does not contact the server.
// If the client is nil, or the path or an option is invalid, every acquire returns an
// error. The first contender creates the path and its missing parents as containers,
// which the server removes some time after the last contender.
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

// Acquire waits for the mutex and returns the lease that holds it. Under the context of a
// lease of this mutex, Acquire re-enters at once, without contacting the server. If that
// lease was lost and is not released yet, the error is the reason of the loss.
//
// If ctx ends first, Acquire leaves the queue and returns an error that matches
// ctx.Err(). If other contenders were seen ahead, the error is a *NotAcquiredError.
// Another waiting goroutine of the client takes over the node, with its place in the
// queue.
//
// Acquire survives interruptions of the connection. It keeps its place in the queue as
// long as the session lives, and otherwise queues again in the next session. Any other
// error, such as framework.ErrClosed, ends the wait at once; a contender that may not read
// the node right ahead gets zk.ErrNoAuth (CVE-2024-23944). No node is ever left behind: an
// acquire that fails has not acquired the mutex. Its error never matches
// framework.ErrOutcomeUnknown, even if a create was under way.
func (m *InterProcessMutex) Acquire(ctx context.Context) (*Lease, error) {
	return leaseOf(m.lock.Acquire(ctx, true))
}

// TryAcquire is Acquire without waiting for other contenders: if there are any, it
// returns a *NotAcquiredError, which matches ErrNotAcquired. TryAcquire still waits for
// the server's answers and, within the client's limits, for a connection.
//
// TryAcquire creates a node, and deletes the node if other contenders are ahead: two
// writes. After such a failed try, the next tries of the same object within a second
// first read the queue, and fail without a write if other contenders are still ahead. So
// keep the object if you try repeatedly. A first try does not read first, because the
// read would cost one more round trip when the lock is free. A try of a mutex or a
// read/write lock that this client already holds fails without a request.
//
// A failed try means that other contenders were ahead after the call began. So a try gets
// a lock that its caller knows to be free. This holds even if the server lags behind,
// because the server catches up before the read, as by framework.Client.Sync; the sync
// and the read take one round trip together. There is one exception: a client of the
// ensemble's leader may see a holder that has just released the lock. If that leader is
// partitioned, the release may have been some seconds ago. To avoid this, use
// framework.WithStrictContact, which makes each read cost a write, or Acquire with a short
// deadline.
func (m *InterProcessMutex) TryAcquire(ctx context.Context) (*Lease, error) {
	return leaseOf(m.lock.Acquire(ctx, false))
}

// Do acquires the mutex, calls f with a context that ends with the lease and with ctx,
// and always releases the mutex. It returns the error of f. If the lock was lost while f
// ran, the error also matches the reason of the loss, even if f did not notice; test for
// both with errors.Is. If the acquire fails, Do does not call f and returns the error of
// the acquire. Do waits for the release as Lease.Release does: without a connection, it
// does not wait at all. The error does not reveal whether f was called, because f may
// return an error that looks like one of Acquire. Set a variable in f to find out.
//
// An acquire under the context of f re-enters, and [LeaseFromContext] returns the lease
// with its fencing token. Goroutines that f starts with this context are all inside at
// once: the lock excludes other contenders, not the goroutines of its holder from each
// other.
func (m *InterProcessMutex) Do(ctx context.Context, f func(ctx context.Context) error) error {
	return do(ctx, m, f)
}

// Participants returns the contenders in the order of the queue, the holder first.
// Goroutines that wait within a process are not included. An idle lock, see
// ReleasePolicy, appears as held.
func (m *InterProcessMutex) Participants(ctx context.Context) ([]Participant, error) {
	return participantsOf(m.lock.Participants(ctx))
}

func (m *InterProcessMutex) describe(wait bool) locktrace.Acquire { return m.lock.Describe(wait) }
