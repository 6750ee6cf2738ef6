package locktrace

import (
	"context"
	"time"

	"github.com/gocurator/curator/framework"
)

// HookStartAcquire is a clienttrace.Hook that is called for every acquire and every
// hold of a client. The goroutine of an acquire calls the AcquireTracer, and
// HoldTracer.Context. A release calls HoldTracer.Ended before it returns, unless the
// emitter has earlier calls of the same hold to make. The client's emitter makes all
// other calls of a HoldTracer, in their order, and Ended after them if the release did
// not. Client.Close waits for the emitter. Package framework has the rule for hooks.
type HookStartAcquire interface {
	// StartAcquire is called when an acquire begins, with its context. It
	// returns the context for the rest of the acquire: ctx itself, or one that
	// is derived from it. Nil stands for ctx. It also returns the tracer of the
	// acquire, or nil. There is no call for an acquire that cannot be
	// carried out, such as one with a bad path, or that re-enters a lock.
	StartAcquire(ctx context.Context, a Acquire) (context.Context, AcquireTracer)
}

// HookHoldEnded is a clienttrace.Hook for programs that need no more than the ends of
// holds. HoldEnded is called once for each hold, after HoldTracer.Ended.
type HookHoldEnded interface {
	HoldEnded(a Acquire, h Hold, end HoldEnd)
}

// AcquireTracer receives the events of one acquire, from one goroutine at a time. Ended is
// called once. If the lock was acquired, StartHold may follow, once. No other call
// follows.
type AcquireTracer interface {
	// Trace returns what others need to link to this acquire, or nil. It
	// becomes the trace of the identity in the acquire's nodes.
	Trace() map[string]string

	// QueuedLocally says that the acquire waits in the process and has no node
	// yet: so many acquires of the same lock and client are ahead.
	QueuedLocally(ahead int)

	// Queued says that the acquire has a node in the server's queue. There may
	// be several, one after the other; a semaphore's acquire has one for its
	// turn and one for each lease.
	Queued(Queued)

	// Waiting says that the acquire waits for a change of the contender right
	// ahead. At a semaphore's leases it waits for all of them alike, and Ahead
	// is zero.
	Waiting(Waiting)

	// Woken says that there was a change. Gone tells whether the contender
	// right ahead has left.
	Woken(gone bool)

	// Abandoned says that the node is given up without a grant.
	Abandoned(reason error)

	// Ended says how the acquire ended.
	Ended(AcquireEnd)

	// StartHold is called when the lock is held. It returns the tracer of the hold, or
	// nil.
	StartHold(Hold) HoldTracer
}

// HoldTracer receives the events of one hold in their order, from one goroutine at a time.
// Ended is called once. After that, only Overrun and the function that Overrun returns may
// be called.
type HoldTracer interface {
	// Context is called first. It returns the context for the lease's work: ctx itself,
	// or one that is derived from it. Nil stands for ctx.
	Context(ctx context.Context) context.Context

	// Reentered says that an acquire under the lease's context got another
	// lease of the same hold.
	Reentered()

	// Revoked says that somebody has asked the holder to give the lock up, and
	// that the holder knows.
	Revoked()

	// Ended says how the hold ended.
	Ended(HoldEnd)

	// Overrun says that the work of a leader selector goes on although its
	// leadership has ended, for longer than ten seconds. It returns a
	// function that is called when the work has returned, or nil.
	Overrun() (returned func())
}

// Acquire describes an acquire when it begins. The deadline is the
// context's.
type Acquire struct {
	Client *framework.Client // the view that the lock was made with
	Recipe string            // one of the Recipe constants
	Name   string            // set by WithName; may be empty
	Path   string            // the lock's path in that view; empty for a multi-lock
	Shared bool              // the read side of a read/write lock
	Leases int               // a semaphore's leases, or a multi-lock's locks; else 1
	Try    bool              // it does not wait for others
}

// The recipes, as tracers and log lines name them.
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
	Ahead  int // contenders before it
	Length int // contenders, itself included
}

// Waiting is what an acquire waits for.
type Waiting struct {
	Position int       // contenders before it
	Ahead    Contender // right ahead
	Holder   Contender // may be the same
}

// Contender is another contender, as far as its node was read.
type Contender struct {
	Node  string    // its name, in quotes if it cannot be printed; empty if it is not known
	Data  []byte    // what the node says of its owner, clipped; for locks.ReadIdentity; shared: do not change it
	Since time.Time // the time at which it queued, by the server's clock; zero if its node was not read
}

// Outcome is how an acquire ended.
type Outcome string

// The outcomes of an acquire.
const (
	Acquired    Outcome = "acquired"
	NotAcquired Outcome = "not_acquired" // others were ahead of an acquire that does not wait
	TimedOut    Outcome = "timeout"      // its context's deadline came first
	Canceled    Outcome = "canceled"     // its context was cancelled first
	Failed      Outcome = "error"
)

// AcquireEnd is how an acquire ended.
type AcquireEnd struct {
	Outcome    Outcome
	Err        error // the error that the caller gets
	Token      int64 // the fencing token; 0 without a lock, and for a multi-lock
	HandedOver bool  // the node belonged to the holder before, in this client
	Downgraded bool  // a reader took over the place of its own client's writer
}

// Hold describes a held lock when the hold begins.
type Hold struct {
	Node  string // the path of its node, the first if there are several
	Token int64
}

// EndCause is why a hold ended.
type EndCause string

// The causes of the end of a hold. All but the first are losses.
const (
	EndReleased     EndCause = "released"
	EndSessionLost  EndCause = "session_lost"
	EndSuspended    EndCause = "suspended"
	EndNodeDeleted  EndCause = "node_deleted"
	EndRevoked      EndCause = "revoked"
	EndClientClosed EndCause = "client_closed"
	EndOther        EndCause = "other"
)

// HoldEnd is how a hold ended. A release ends it when the server has answered,
// or when the client goes on with the deletion by itself.
type HoldEnd struct {
	Cause EndCause

	// Err is the reason of a loss. For a release it says why a node may still
	// be there: the client goes on with the deletion, or the server refuses it.
	Err error
}
