package recipes

import (
	"context"
	"time"

	"github.com/gocurator/curator/framework"
)

// Tracer is told of every acquire and of every hold, if the client's framework.Tracer has this method as well. Package
// recipes knows no tracing system; package tracing implements this for OpenTelemetry.
//
// A Tracer may block. An acquire takes as long as its AcquireTracer does, but for those of a LeaderLatch. For these, and for
// a HoldTracer, a framework.Teller makes the calls: a release waits until the tracer was told of it, but no longer than a
// second, and no longer than a tenth of a second when its context has ended. Client.Close waits for a second, too. No method
// must panic.
type Tracer interface {
	// StartAcquire is called when an acquire begins, with its context, and returns the context for the rest of it: ctx
	// itself, or one that is derived from it. Calls that cannot be carried out, and those that re-enter, never begin.
	StartAcquire(ctx context.Context, a Acquire) (context.Context, AcquireTracer)
}

// AcquireTracer is told what happens to one acquire, by one goroutine at a time. Ended is called once, and after it, if
// the lock was acquired, StartHold once at most. Nothing is called after that.
type AcquireTracer interface {
	// Trace returns what others need to link to this acquire, for Identity.Trace of its nodes, or nil.
	Trace() map[string]string

	// QueuedLocally says that so many acquires of the same lock and client are ahead, and that it has no node yet.
	QueuedLocally(ahead int)

	// Queued says that it has a node. It may have several, one after the other, and a semaphore's has one more for each
	// lease.
	Queued(Queued)

	// Waiting says that it waits for who is right ahead. In a crowd, as at a semaphore's leases, that is nobody in
	// particular.
	Waiting(Waiting)

	// Woken says that what was waited for has changed. Gone says that who was right ahead has left.
	Woken(gone bool)

	// Abandoned says that its node is given up without a grant.
	Abandoned(reason error)

	// Ended says how it ended.
	Ended(AcquireEnd)

	// StartHold is called when the lock is held.
	StartHold(Hold) HoldTracer
}

// HoldTracer is told what happens while a lock is held, by one goroutine at a time. Ended is called once; what is called
// after it is late, but for Overrun.
type HoldTracer interface {
	// Context returns the context for the lease's work: ctx itself, or one that is derived from it.
	Context(ctx context.Context) context.Context

	// Reentered says that an acquire under the lease's context has got another lease of the same hold.
	Reentered()

	// Revoked says that somebody has asked the holder to give the lock up, and that the holder has heard of it.
	Revoked()

	// Ended says how it ended.
	Ended(HoldEnd)

	// Overrun says that the work of a LeaderSelector goes on although its leadership has ended, for longer than
	// WithOverrunReport allows. It returns a function that is called when the work has returned.
	Overrun() (returned func())
}

// Acquire is what a Tracer is told of an acquire when it begins. Its deadline is that of the context.
type Acquire struct {
	Client *framework.Client // the view that the lock was made with
	Recipe string            // one of the Recipe constants
	Name   string            // see WithName; may be empty
	Path   string            // of the lock, for that view; empty for a multi-lock
	Shared bool              // the reader's side
	Leases int               // how many of a semaphore's leases, or locks of a multi-lock; else 1
	Try    bool              // it does not wait for others
}

// The recipes, as Tracers and log lines have them.
const (
	RecipeMutex          = "mutex"
	RecipeReadWriteLock  = "read_write_lock"
	RecipeSemaphore      = "semaphore"
	RecipeSemaphoreMutex = "semaphore_mutex"
	RecipeMultiLock      = "multi_lock"
	RecipeLeaderLatch    = "leader_latch"
	RecipeLeaderSelector = "leader_selector"
)

// Queued is a place in the queue.
type Queued struct {
	Node   string // its path
	Czxid  int64
	Ahead  int // contenders before it
	Length int // contenders, itself included
}

// Waiting is what an acquire waits for.
type Waiting struct {
	Ahead  Other // right ahead
	Holder Other // may be the same
}

// Other is another contender, as far as its node was read.
type Other struct {
	Node     string // its name, in quotes if it cannot be printed; empty if there is none, or it is not known
	Identity Identity
	Since    time.Time // when it queued, by the server's clock; zero if its node was not read
}

// Outcome is how an acquire ended.
type Outcome string

// The outcomes of an acquire.
const (
	Acquired    Outcome = "acquired"
	NotAcquired Outcome = "not_acquired" // others were ahead, and it was not to wait
	QueueFull   Outcome = "queue_full"   // see WithQueueLimit
	TimedOut    Outcome = "timeout"      // its context's deadline came first
	Canceled    Outcome = "canceled"     // its context was cancelled first
	Failed      Outcome = "error"
)

// AcquireEnd is how an acquire ended.
type AcquireEnd struct {
	Outcome    Outcome
	Err        error // what the caller gets
	Token      int64 // the fencing token; 0 without a lock, and for a multi-lock
	HandedOver bool  // see WithLocalHandOver
	Downgraded bool  // a reader that has the place of its own writer
}

// Hold is what a Tracer is told of a held lock when the hold begins.
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

// HoldEnd is how a hold ended. A release ends it when the server has answered, or when the client goes on with the
// deletion by itself.
type HoldEnd struct {
	Cause EndCause
	Err   error // the reason of a loss; or why a release has left a node: to the client, or because the server refuses
}
