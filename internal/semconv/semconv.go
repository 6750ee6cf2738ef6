// Package semconv has the names that the spans, metrics and log lines of this module use, so that all of them call the
// same thing by the same name. It imports nothing: framework and recipes know no OpenTelemetry.
//
// Where OpenTelemetry's semantic conventions have a name, it is theirs. They have none for locks, nor for sessions of
// ZooKeeper; those begin with "curator.".
package semconv

// Attributes of locks.
const (
	LockName        = "curator.lock.name"              // given by recipes.WithName
	LockPath        = "curator.lock.path"              // never on metrics
	LockRecipe      = "curator.lock.recipe"            // such as "mutex"
	LockMode        = "curator.lock.mode"              // "exclusive" or "shared"
	LockLeases      = "curator.lock.leases"            // how many are asked for at once
	LockTry         = "curator.lock.try"               // the acquire does not wait for others
	LockTimeout     = "curator.lock.timeout"           // seconds until the deadline of the acquire
	LockOutcome     = "curator.lock.outcome"           // of an acquire
	LockPosition    = "curator.lock.position"          // contenders ahead when it queued
	LockQueue       = "curator.lock.queue.length"      // contenders when it queued, itself included
	LockLocalAhead  = "curator.lock.local.ahead"       // acquires of the same lock and client ahead, in this process
	LockNode        = "curator.lock.node"              // the contender's own node
	LockToken       = "curator.lock.fencing_token"     // its czxid
	LockWakes       = "curator.lock.wakes"             // how often a waiter was woken
	LockHolder      = "curator.lock.holder"            // who holds the lock, as its node says
	LockHolderNode  = "curator.lock.holder.node"       // and that node
	LockHolderAge   = "curator.lock.holder.age"        // seconds since that node queued
	LockHolderStack = "curator.lock.holder.stacktrace" // of its acquire, if it is in this process
	LockPred        = "curator.lock.predecessor"       // who is right ahead, as its node says
	LockPredNode    = "curator.lock.predecessor.node"  // and that node
	LockHandOff     = "curator.lock.handoff.duration"  // seconds from hearing of the release to the grant
	LockLocal       = "curator.lock.handoff.local"     // the lock was passed on within this process
	LockDowngraded  = "curator.lock.downgraded"        // a reader took the place of its own writer
	LockEnd         = "curator.lock.end"               // why a hold ended
	LockHeld        = "curator.lock.held"              // seconds a lock has been held
	LockWaited      = "curator.lock.waited"            // seconds an acquire has waited
	LockOverrun     = "curator.lock.overrun"           // seconds that a leader's work went on after its leadership
	LinkKind        = "curator.link"                   // what a span link leads to
)

// Attributes of sessions and connections.
const (
	SessionID    = "curator.session.id" // in hexadecimal digits, as ZooKeeper's own logs have it
	SessionState = "curator.session.state"
	Cause        = "curator.cause"       // the text of an error that explains something
	LogDropped   = "curator.log.dropped" // lines

	OutageDuration = "curator.outage.duration"
)

// Attributes that OpenTelemetry's semantic conventions define.
const (
	ServerAddress = "server.address"
	ServerPort    = "server.port"
	ErrorType     = "error.type"
	StackTrace    = "code.stacktrace"
	DBSystem      = "db.system.name"
	DBOperation   = "db.operation.name"
	DBNamespace   = "db.namespace"
	DBStatus      = "db.response.status_code"
	ZNodePath     = "curator.znode.path" // of an operation; spans only
	Attempts      = "curator.operation.attempts"
)

// Events of spans.
const (
	EventQueuedLocally = "queued locally"
	EventEnqueued      = "enqueued"
	EventWatching      = "watching"
	EventWoken         = "woken"
	EventHandedOver    = "handed over"
	EventGranted       = "granted"
	EventAbandoned     = "abandoned"
	EventSuspended     = "connection suspended"
	EventRestored      = "connection restored"
	EventSessionLost   = "session lost"
	EventReentered     = "re-entered"
	EventRevoked       = "revocation asked for"
	EventLost          = "lost"
	EventSlowWait      = "slow wait"
	EventSlowHold      = "slow hold"
)

// Metrics.
const (
	AcquireDuration   = "curator.lock.acquire.duration"
	HoldDuration      = "curator.lock.hold.duration"
	HandOffDuration   = "curator.lock.handoff.duration"
	Waiters           = "curator.lock.waiters"
	Holders           = "curator.lock.holders"
	Acquisitions      = "curator.lock.acquisitions"
	Losses            = "curator.lock.losses"
	Overruns          = "curator.lock.overruns"
	Sessions          = "curator.sessions"
	Reconnects        = "curator.session.reconnects"
	Expiries          = "curator.session.expiries"
	Watches           = "curator.watches"
	OperationDuration = "db.client.operation.duration"
)
