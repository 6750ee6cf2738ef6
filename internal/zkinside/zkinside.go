// Package zkinside gives the tests and tools of this module more access to package
// testing/zktest than users have. Package zktest implements [Servers], and sets the functions
// when it is initialized. Package zkinside cannot import zktest, so values of zktest have the
// type any.
package zkinside

import (
	"context"
	"time"
)

// Servers has the methods of a server, or of all members of an ensemble.
type Servers interface {
	// AllRequests returns a []zktest.Request: the last requests to all members, in the
	// order in which the members received them. Their number has the limit of
	// zktest.Server.Requests. A standalone server has only its own requests.
	AllRequests() any

	// AwaitAgreement waits until every member is connected to the leader and has applied
	// all transactions. It returns the errors of zktest.Ensemble.WaitFor.
	AwaitAgreement(ctx context.Context) error

	// Behind returns how many of its leader's transactions the member has not
	// applied yet.
	Behind() int

	// Ephemerals returns the sorted paths of a session's ephemeral nodes. In an ensemble,
	// these are the nodes at the member that has applied the most transactions.
	Ephemerals(session int64) []string

	// Events yields the events of the last chaos plan so far, in order.
	Events(yield func(at time.Time, what string) bool)

	// MemberOf returns the number of the member to which a session is connected. It
	// returns 0 if there is no connection, and for a standalone server.
	MemberOf(session int64) int

	// MoveSession moves a session to the member with the number. It closes the
	// connection, and until the client has connected to that member, all other members
	// close the client's connections. MoveSession returns false if the session does not
	// exist, or if the member is closed.
	MoveSession(session int64, member int) bool

	// PauseSession makes all requests of a session wait until ResumeSession, including
	// pings and handshakes. No request is lost, and none is answered. A session that is
	// paused for longer than its timeout expires. PauseSession also delays the handshake
	// of a session that has ended. It reports whether the session is alive.
	PauseSession(session int64) bool

	// ReapContainers deletes empty containers and outdated nodes with a TTL now, and
	// returns the number of deleted nodes. The server, in an ensemble its leader, also
	// does this from time to time; see [Settings.ContainerCheckInterval]. As in a real
	// server, a container that becomes empty by this call is only deleted by the next
	// call.
	ReapContainers() int

	// ReplaceSession makes the servers forget the owner of a session. The next client that
	// wants to continue the session silently gets a new session. A correct server would
	// answer "expired", or continue the old session, but some re-implementations of
	// ZooKeeper grant a new one. If the session is alive, it ends by its timeout.
	// ReplaceSession also works for a session that has ended. It reports whether the
	// session is alive.
	ReplaceSession(session int64) bool

	// Resign makes a leader that is not paused step down, and returns true. For any other
	// member, Resign returns false. As in a real ensemble, every member closes its clients'
	// connections and looks for a leader. Another member is elected, if possible.
	Resign() bool

	// ResumeSession carries out the waiting requests, and ends the pause. It returns false
	// if the session is not paused. The end of a session also ends its pause.
	ResumeSession(session int64) bool

	// SetSequence sets the number of the parent's next sequential child, for tests of the
	// end of the sequence. Servers do not wrap: every child after 2147483647 gets that
	// number again. Only concurrent creates continue at -2147483648. In a real server,
	// that can happen to any concurrent creates. In this server, it happens to the creates
	// of one multi, and to creates that have arrived together on one connection. For other
	// cases, pass a negative number.
	SetSequence(parent string, next int32) error

	// StartFaults makes the servers fail at random from now on, by a zktest.ChaosPlan,
	// until zktest.Server.StopFaults, which also ends the latency. An invalid plan is an
	// error, and so is a second plan while another plan is active.
	StartFaults(plan any) error

	// Watches returns the number of a session's watches.
	Watches(session int64) int
}

// Settings are server options for the tests of this module; see [With].
type Settings struct {
	// ClickHouseKeeper makes the server behave like ClickHouse Keeper where the difference
	// from ZooKeeper matters to clients:
	//
	//   - A part of a multiRead that has failed keeps the type of its operation.
	//     The error code is in the part's header, and no body follows.
	//   - A deletion leaves the Pzxid of the parent unchanged.
	//   - Containers and nodes with a TTL are unknown: the connection ends without
	//     an answer.
	//   - The events of a recursive watch carry the path of the watch instead of
	//     the path of the node.
	//   - A client that wants to continue a session that is over silently gets a new
	//     session.
	ClickHouseKeeper bool

	// Version38 makes the server behave like ZooKeeper 3.8.0 in Debian 12, which has a patch
	// that checks permissions before it sends events. Without Version38, the server behaves
	// like 3.9.3. In 3.8:
	//
	//   - A connection has one mode of watch for each path and table. The last mode
	//     replaces the previous mode, so a standard watch replaces a persistent watch
	//     (ZOOKEEPER-4466).
	//   - Removing a watch for data, or for children, removes the watch of any mode from
	//     that table (ZOOKEEPER-4471). Only a removal of the kind "any" removes a whole
	//     persistent watch, together with all other watches (ZOOKEEPER-4472).
	//   - A recursive watch is also in the table for children, where it has no effect.
	//   - Events have no zxid.
	//   - The request exists checks no permission.
	//   - A multi reads the modes of its creates in another way.
	//
	// MODEL.md of package zktest has all differences.
	Version38 bool

	// ContainerCheckInterval is the interval at which the server deletes empty containers
	// and outdated nodes with a TTL. The default is one minute, as in a real server.
	ContainerCheckInterval time.Duration

	// NoTTLNodes disables nodes with a TTL: the server answers that the request is not
	// implemented, as a real server does by default.
	NoTTLNodes bool

	// RequestLog is how many requests zktest.Server.Requests remembers; a negative number
	// means none. The default is 100,000, which is enough for a test, but too much for a
	// program that runs for a long time. An ensemble remembers that many requests for each
	// member, and for all members together. RequestLog has no effect on CountRequests and
	// Stats.
	RequestLog int

	// RequiredSASL makes the server refuse every request, even a ping, on a connection
	// that has not authenticated by SASL. The server answers with the code -124, and ends
	// the connection. RequiredSASL corresponds to enforce.auth.enabled=true and
	// enforce.auth.schemes=sasl, and needs zktest.WithSASLUser.
	RequiredSASL bool

	// Schedule gets each message between clients and servers. The message arrives when
	// [Message.Deliver] is called, so a test can choose among all possible orders of
	// events, as package explore does.
	//
	// Schedule must return at once, and must not call the server. It gets the messages of
	// one connection in their order. A message that is never delivered waits until its
	// connection ends. With a scheduler, the order of a listing depends only on the number
	// of the connection. A scheduler together with a chaos plan is an error.
	Schedule func(*Message)

	// SyncLimit is how many ticks the members of an ensemble tolerate each other's silence.
	// A follower that is cut off from its leader then closes its clients' connections, and a
	// leader without a majority steps down one tick later. The default is 5, as in
	// ZooKeeper's sample configuration. SyncLimit has no effect on a standalone server.
	SyncLimit int

	// Tick makes sessions expire only at multiples of Tick, at the first multiple after the
	// timeout. A real server's tick is typically 2 seconds. The default of a standalone
	// server is 0: a session expires exactly at its timeout after the client's last request.
	// The default of an ensemble is 100 milliseconds. SyncLimit counts in ticks.
	Tick time.Duration

	// WallClock returns the time that the server writes into nodes, as their Ctime and
	// Mtime. It is for tests over TCP that compare the output of a program with a file;
	// package testing/synctest cannot help there. Timeouts use the real time. The server
	// calls WallClock with its lock held, so WallClock must not call the server.
	WallClock func() time.Time
}

// Message is a request, an answer or a watch event on its way between a client and a server;
// see [Settings.Schedule]. Messages of one connection in one direction arrive in their order:
// a message that is delivered early waits for earlier messages. The fields must not be
// changed.
type Message struct {
	Host   any   // the client's *zktest.Host, or nil
	Member int   // the number of the server; 0 for a standalone server
	Conn   int64 // number of the connection, counted from 1 in the order of their beginning

	// Request is the zktest.Request. For an answer, it is the answered request with its
	// result. For an event, it has only the session and the path.
	Request any
	Answer  bool   // the message is the answer
	Event   string // the event at the path, such as NodeDeleted; empty unless the message is an event

	// Deliver makes the message arrive. The action is a zktest.Action on a request, as if a
	// rule had hit the request, or nil. Only the first call has an effect.
	Deliver func(action any)

	// Lost reports whether the server has closed the connection, so that the message
	// cannot arrive any more.
	Lost func() bool
}

// Package zktest sets these functions.
var (
	// Of returns the methods of a *zktest.Server, a *zktest.Member, or a
	// *zktest.Ensemble. Anything else panics.
	Of func(servers any) Servers

	// With returns a zktest.Option. A server has the settings of the last With. A field
	// that is zero has its default.
	With func(Settings) any

	// HoldRequest returns a zktest.Action that cuts the connection, and carries out the
	// request after the duration d, like a server of an ensemble that stalls with a request
	// and then continues. The client cannot tell HoldRequest from DropRequest, and may have
	// begun a new session before the server carries the request out.
	//
	// The server refuses the request if its session has ended, or has moved to another
	// connection. The request is lost if the server has ended, has no leader, or follows
	// another leader. A handshake is always lost. A paused server carries the request out
	// when it continues. A server that cannot reach its leader for less than the sync limit
	// carries the request out when it reaches the leader again. Server.Requests then has the
	// request. The duration d must be positive.
	HoldRequest func(d time.Duration) any

	// Reset returns a zktest.Action like DropRequest that ends the connection by TCP's RST:
	// the client also loses everything that it has not read yet.
	Reset func() any

	// Suspended returns a function that returns the total time for which a *zktest.Host has
	// slept; see insider.WithSuspendClock.
	Suspended func(host any) func() time.Duration
)

// These requests are only for tests of this module. Their type is zktest.Op.
const (
	OpSetACL          = 7
	OpPing            = 11
	OpGetChildren2    = 12
	OpRemoveWatches   = 18
	OpCreateContainer = 19
	OpMultiRead       = 22
	OpAuth            = 100
	OpSetWatches      = 101
	OpSASL            = 102
	OpAddWatch        = 106
	OpCloseSession    = -11
)

// These codes are only for tests of this module. Their type is zktest.Code.
const (
	ErrSystem         = -1
	ErrUnimplemented  = -6
	ErrBadArguments   = -8
	ErrNoNode         = -101
	ErrBadVersion     = -103
	ErrNodeExists     = -110
	ErrNotEmpty       = -111
	ErrSessionExpired = -112
	ErrAuthFailed     = -115
	ErrSessionMoved   = -118
	ErrThrottled      = -127
)
