package locktrace

import (
	"context"
	"time"

	"github.com/gocurator/curator/framework"
)

// HookStartAcquire is a clienttrace.Hook that is called for every acquire and every hold
// of a client. The goroutine of an acquire calls the AcquireTracer, and
// HoldTracer.Context. The client's emitter makes all other calls of a HoldTracer, in
// order. There is one exception: a release calls HoldTracer.Ended directly, before it
// returns, unless the emitter still has earlier calls of the same hold to make.
// Client.Close waits for the emitter. Package framework has the rules for hooks.
type HookStartAcquire interface {
	// StartAcquire is called when an acquire begins, with the context of the acquire. It
	// returns the context for the rest of the acquire: ctx, or a context derived from it.
	// Nil means ctx. It also returns the tracer of the acquire, or nil. StartAcquire is
	// not called for an acquire that fails at once, for example because of an invalid
	// path, or for an acquire that re-enters a lock.
	StartAcquire(ctx context.Context, a Acquire) (context.Context, AcquireTracer)
}

// HookHoldEnded is a clienttrace.Hook for programs that need only the ends of holds.
// HoldEnded is called once for each hold, after HoldTracer.Ended.
type HookHoldEnded interface {
	HoldEnded(a Acquire, h Hold, end HoldEnd)
}

// AcquireTracer receives the events of one acquire, from one goroutine at a time. Ended
// is called once. If the lock was acquired, StartHold may follow, once. There are no
// further calls.
type AcquireTracer interface {
	// Trace returns the data that other processes need to link to this acquire, or nil.
	// The acquire's nodes have it in their identity.
	Trace() map[string]string

	// QueuedLocally reports that the acquire waits in the process and has no node yet.
	// The argument ahead counts the earlier acquires of the same lock and client.
	QueuedLocally(ahead int)

	// Queued reports that the acquire has a node in the server's queue. An acquire may
	// have several nodes, one after the other; a semaphore's acquire has one node for its
	// turn and one for each lease.
	Queued(Queued)

	// Waiting reports that the acquire waits for a change of the contender right ahead.
	// An acquire that waits for a semaphore's leases waits for all their holders at once,
	// and Ahead is zero.
	Waiting(Waiting)

	// Woken reports a change. The argument gone is true if the contender right ahead has
	// left.
	Woken(gone bool)

	// Abandoned reports that the acquire gives up its node without a grant.
	Abandoned(reason error)

	// Ended reports how the acquire ended.
	Ended(AcquireEnd)

	// StartHold is called when the lock is held. It returns the tracer of the hold, or
	// nil.
	StartHold(Hold) HoldTracer
}

// HoldTracer receives the events of one hold in order, from one goroutine at a time.
// Ended is called once. After that, only Overrun and the function that Overrun returns
// may be called.
type HoldTracer interface {
	// Context is called first. It returns the context for the lease's work: ctx, or a
	// context derived from it. Nil means ctx.
	Context(ctx context.Context) context.Context

	// Reentered reports that an acquire under the lease's context has re-entered: the
	// hold has another lease.
	Reentered()

	// Revoked reports that the holder has received a request to give the lock up.
	Revoked()

	// Ended reports how the hold ended.
	Ended(HoldEnd)

	// Overrun reports that the work of a leader selector has continued for more than ten
	// seconds after the end of its leadership. It returns a function that is called when
	// the work has returned, or nil.
	Overrun() (returned func())
}

// Acquire describes an acquire when it begins. The deadline is in the context.
type Acquire struct {
	Client *framework.Client // the view with which the lock was made
	Recipe string            // one of the Recipe constants
	Name   string            // set by WithName; may be empty
	Path   string            // the lock's path in Client; empty for a multi-lock
	Shared bool              // the read side of a read/write lock
	Leases int               // a semaphore's leases, or a multi-lock's locks; otherwise 1
	Try    bool              // the acquire does not wait for other contenders
}

// The recipes, by the names that tracers and log lines use.
const (
	RecipeMutex          = "mutex"
	RecipeReadWriteLock  = "read_write_lock"
	RecipeSemaphore      = "semaphore"
	RecipeSemaphoreMutex = "semaphore_mutex"
	RecipeMultiLock      = "multi_lock"
	RecipeLeaderLatch    = "leader_latch"
	RecipeLeaderSelector = "leader_selector"
)

// Queued is a place in the server's queue.
type Queued struct {
	Node   string // the path of the acquire's node
	Czxid  int64
	Ahead  int // the number of contenders before the acquire's node
	Length int // the number of contenders, including the acquire's node
}

// Waiting describes for which contenders an acquire waits.
type Waiting struct {
	Position int       // the number of contenders before it
	Ahead    Contender // the contender right ahead
	Holder   Contender // may be the same contender
}

// Contender is another contender, described by its node.
type Contender struct {
	Node  string    // the node's name, quoted if it cannot be printed; empty if it is unknown
	Data  []byte    // the node's data, clipped; for locks.ReadIdentity; shared: do not change it
	Since time.Time // when it queued, by the server's clock; zero if its node was not read
}

// Outcome is how an acquire ended.
type Outcome string

// The outcomes of an acquire.
const (
	Acquired    Outcome = "acquired"
	NotAcquired Outcome = "not_acquired" // other contenders were ahead, and the acquire does not wait
	TimedOut    Outcome = "timeout"      // the deadline of the acquire's context passed
	Canceled    Outcome = "canceled"     // the acquire's context was cancelled
	Failed      Outcome = "error"
)

// AcquireEnd is how an acquire ended.
type AcquireEnd struct {
	Outcome    Outcome
	Err        error // the error that the caller receives
	Token      int64 // the fencing token; 0 without a lock, and for a multi-lock
	HandedOver bool  // the node belonged to an earlier holder in this client
	Downgraded bool  // a reader took over the place of its client's writer
}

// Hold describes a held lock when the hold begins.
type Hold struct {
	Node  string // the path of the node; of the first if there are several
	Token int64
}

// EndCause is why a hold ended.
type EndCause string

// The causes of the end of a hold. All except EndReleased are losses.
const (
	EndReleased     EndCause = "released"
	EndSessionLost  EndCause = "session_lost"
	EndSuspended    EndCause = "suspended"
	EndNodeDeleted  EndCause = "node_deleted"
	EndRevoked      EndCause = "revoked"
	EndClientClosed EndCause = "client_closed"
	EndOther        EndCause = "other"
)

// HoldEnd describes how a hold ended. A hold that is released ends when the server has
// answered, or when the client continues the deletion in the background.
type HoldEnd struct {
	Cause EndCause

	// Err is the reason of a loss. After a release, it says why a node may still exist:
	// the client is still deleting it, or the server refuses to delete it.
	Err error
}
