// Package semconv has the names in the spans, metrics and log lines of this module, so
// that the same thing has the same name everywhere. It imports nothing: framework and
// recipes do not depend on OpenTelemetry.
//
// A name comes from OpenTelemetry's semantic conventions if one exists. The conventions
// have no names for locks or for sessions of ZooKeeper; these names begin with
// "curator.".
package semconv

// Attributes of locks. Durations are in seconds.
const (
	LockName   = "curator.lock.name"   // the name that WithName gives
	LockPath   = "curator.lock.path"   // for spans and logs, never for metrics
	LockRecipe = "curator.lock.recipe" // such as "mutex"
	LockMode   = "curator.lock.mode"   // "exclusive" or "shared"

	LockLeases  = "curator.lock.leases"  // how many an acquire asks for
	LockTry     = "curator.lock.try"     // the acquire does not wait
	LockTimeout = "curator.lock.timeout" // time until the acquire's deadline
	LockOutcome = "curator.lock.outcome" // how an acquire ended
	LockWaited  = "curator.lock.waited"  // how long an acquire has waited
	LockWakes   = "curator.lock.wakes"   // how often a waiter was woken

	// LockPosition is how many contenders were ahead when this one queued.
	LockPosition = "curator.lock.position"
	// LockQueue is how many contenders there were when this one queued, itself
	// included.
	LockQueue = "curator.lock.queue.length"
	// LockLocalAhead is how many acquires of the same lock and client were
	// ahead in this process.
	LockLocalAhead = "curator.lock.local.ahead"

	LockNode  = "curator.lock.node"          // the contender's own node
	LockToken = "curator.lock.fencing_token" // the czxid of that node

	LockHolder     = "curator.lock.holder"      // the holder's identity, from its node
	LockHolderNode = "curator.lock.holder.node" // the path of the node
	LockHolderAge  = "curator.lock.holder.age"  // time since that node queued
	// LockHolderStack is the stack of the holder's acquire, if the holder is in
	// this process.
	LockHolderStack = "curator.lock.holder.stacktrace"

	// LockPred is the identity of the contender right ahead, from its node.
	LockPred     = "curator.lock.predecessor"
	LockPredNode = "curator.lock.predecessor.node" // the path of the node

	// LockHandOff is the time from learning of the release to the grant.
	LockHandOff = "curator.lock.handoff.duration"
	// LockLocal means that the lock was handed over within this process.
	LockLocal = "curator.lock.handoff.local"
	// LockDowngraded means that a reader took its own writer's place.
	LockDowngraded = "curator.lock.downgraded"

	LockEnd  = "curator.lock.end"  // why a claim ended
	LockHeld = "curator.lock.held" // how long a lock has been held
	// LockOverrun is how long a leader's work continued after its leadership.
	LockOverrun = "curator.lock.overrun"

	LinkKind = "curator.link" // the kind of span that a link leads to
)

// Attributes of sessions and connections.
const (
	// SessionID is in hexadecimal digits, as in ZooKeeper's own logs.
	SessionID    = "curator.session.id"
	SessionState = "curator.session.state"
	Cause        = "curator.cause" // text of the error that explains the event

	OutageDuration = "curator.outage.duration"

	ConnectionsEnded = "curator.connections.ended" // how many connections in a row ended on the same request
)

// Attributes of operations.
const (
	ZNodePath = "curator.znode.path" // for spans, and for log lines of nodes
	// ZNodeOwner is the id of the session that owns a node, as SessionID is.
	ZNodeOwner = "curator.znode.owner"
	Attempts   = "curator.operation.attempts"

	Operation   = "curator.operation"    // ZooKeeper's name for it, such as "setData"
	RequestSize = "curator.request.size" // bytes
)

// Attributes of persistent nodes, and of caches.
const (
	// NodeRegained means that a node was registered before and then lost.
	NodeRegained = "curator.znode.regained"
	NodeLoss     = "curator.znode.loss" // why a node was lost
	// NodeCzxid is the transaction that created a node.
	NodeCzxid = "curator.znode.czxid"

	// CacheZxid is a transaction. A cache is equal to the tree as it was then.
	// CacheZxidBefore is the cache's previous CacheZxid.
	CacheZxid       = "curator.cache.zxid"
	CacheZxidBefore = "curator.cache.zxid.before"
	// CacheLag is how long a cache has been behind.
	CacheLag = "curator.cache.lag"
)

// Attributes of numbers and values in package atomic, and of barriers.
const (
	AtomicOutcome = "curator.atomic.outcome" // how a write ended
	BarrierWait   = "curator.barrier.wait"   // the call that waits, such as "enter"
)

// Attributes of services in package discovery.
const (
	DiscoveryState  = "curator.discovery.state"  // of the instances in a directory, such as "draining"
	DiscoveryChange = "curator.discovery.change" // the change of an instance, such as "added"
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
	EventConflict      = "conflict"
	EventRegained      = "regained"
	EventOverwritten   = "overwritten"
	EventDrains        = "drains"
	EventDrainsNoMore  = "drains no more"
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

	NodeRegistrations = "curator.znode.registrations"
	NodeLosses        = "curator.znode.losses"
	NodeConflicts     = "curator.znode.conflicts"
	NodesMissing      = "curator.znode.missing"

	CacheNodes        = "curator.cache.nodes"
	CacheLagDuration  = "curator.cache.lag.duration"
	CacheTransactions = "curator.cache.lag.transactions"
	CacheResyncs      = "curator.cache.resyncs"

	AtomicWrites = "curator.atomic.writes"

	SharedChanges     = "curator.shared.changes"
	SharedRereads     = "curator.shared.rereads"
	SharedUndecodable = "curator.shared.undecodable"

	DiscoveryInstances   = "curator.discovery.instances"
	DiscoveryMalformed   = "curator.discovery.malformed"
	DiscoveryInterrupted = "curator.discovery.interrupted"
	DiscoveryChanges     = "curator.discovery.changes"
	DiscoveryDrains      = "curator.discovery.drains"
	DiscoveryEjections   = "curator.discovery.ejections"

	BarrierWaitDuration = "curator.barrier.wait.duration"
)
