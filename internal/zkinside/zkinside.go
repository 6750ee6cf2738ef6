// Package zkinside is what tests and tools of this module ask of package
// testing/zktest, and no user does. Package zktest implements [Servers] and sets
// the functions when it is initialized. It cannot be imported here, so that its
// types are any.
package zkinside

import (
	"context"
	"time"
)

// Servers has the methods of a server, or of all members of an ensemble.
type Servers interface {
	// AllRequests returns a []zktest.Request: the last requests to all members together,
	// as many as zktest.Server.Requests of one, in the order in which the members
	// received them. A standalone server has its own requests only.
	AllRequests() any

	// AwaitAgreement waits until every member is connected to the leader and has
	// applied all transactions. It ends as zktest.Ensemble.WaitFor does.
	AwaitAgreement(ctx context.Context) error

	// Behind returns how many of its leader's transactions the member has not
	// applied yet.
	Behind() int

	// Ephemerals returns the paths of the ephemeral nodes of a session, sorted. An
	// ensemble answers with the nodes of the member that has applied most.
	Ephemerals(session int64) []string

	// Events yields what the last chaos plan has done so far, in order.
	Events(yield func(at time.Time, what string) bool)

	// MemberOf returns the number of the member to which a session is connected. It
	// returns 0 without a connection, and for a standalone server.
	MemberOf(session int64) int

	// MoveSession brings a session to the member with the number: its connection is
	// closed, and until the client has come to that member the others hang up on it,
	// as if they were down. MoveSession returns false if there is no such session, or
	// if the member is closed.
	MoveSession(session int64, member int) bool

	// PauseSession makes the requests of a session wait until ResumeSession, pings and
	// handshakes included: nothing is lost, and nothing is answered. A session that is
	// paused for longer than its timeout expires. PauseSession also holds up the
	// handshake of a session that has ended. It reports whether the session is alive.
	PauseSession(session int64) bool

	// ReapContainers deletes empty containers and outdated nodes with a TTL now. The
	// server, in an ensemble its leader, does this by itself, see
	// [Settings.ContainerCheckInterval]. A container that becomes empty by it is
	// deleted the next time only, as on a real server. ReapContainers returns the
	// number of nodes deleted.
	ReapContainers() int

	// ReplaceSession makes the servers forget whose session it is. The next client
	// that wants to take it up gets a new session without being told, where a correct
	// server would say "expired" or give the old one back. Some re-implementations of
	// ZooKeeper have done that. If the session is alive, it is left to its timeout.
	// ReplaceSession also works for a session that has ended. It reports whether the
	// session is alive.
	ReplaceSession(session int64) bool

	// Resign makes the member step down, if it leads and is not paused, and reports
	// whether it has. As on a real ensemble every member drops its clients and looks
	// for a leader; another one is elected, if one is eligible.
	Resign() bool

	// ResumeSession carries out what has waited, and ends the pause. It returns false if
	// there is none: the end of the session has ended it, too.
	ResumeSession(session int64) bool

	// SetSequence sets the number that the next sequential child of parent gets. It
	// serves to test what happens at the end of the sequence, where servers do not
	// wrap: every child after the one with 2147483647 gets that number again. Only
	// creates that are under way together continue at -2147483648. A real server may
	// do so whenever it is busy with several creates. Here these are the creates of
	// one multi, and creates that have arrived together on one connection. Pass a
	// negative number for any other case.
	SetSequence(parent string, next int32) error

	// StartFaults makes the servers fail by chance from now on, by a
	// zktest.ChaosPlan, until zktest.Server.StopFaults, which also ends the latency.
	// A plan that makes no sense is an error, and so is a second plan while another
	// is at work.
	StartFaults(plan any) error

	// Watches returns how many watches a session has.
	Watches(session int64) int
}

// Settings are options of servers for this module alone. See [With].
type Settings struct {
	// ClickHouseKeeper makes the server answer as ClickHouse Keeper does, where the
	// difference to ZooKeeper matters to clients:
	//
	//   - A part of a multiRead that has failed keeps the type of its operation.
	//     The error code is in the part's header, and no body follows.
	//   - A deletion leaves the Pzxid of the parent unchanged.
	//   - Containers and nodes with a TTL are unknown: the connection ends without
	//     an answer.
	//   - The events of a recursive watch carry the path of the watch instead of
	//     the path of the node.
	//   - A client that asks for a session that is over gets a new one, and is not
	//     told.
	ClickHouseKeeper bool

	// Version38 makes the server behave as ZooKeeper 3.8.0 does, as Debian 12 has it:
	// patched, so that events ask for permission. Without it, the server behaves as
	// 3.9.3. In 3.8:
	//
	//   - A connection has one mode of watch for a path, in each of the two tables.
	//     The mode that is set last replaces the one before, and so a standard watch
	//     replaces a persistent one (ZOOKEEPER-4466).
	//   - Removing a watch for data, or for children, removes it from that table,
	//     whatever its mode (ZOOKEEPER-4471). Only the kind for any watch removes a
	//     persistent one as a whole, with all others (ZOOKEEPER-4472).
	//   - A recursive watch is in the table for children as well, and silent there.
	//   - Events do not tell their zxid.
	//
	// Besides, exists asks for no permission, and a multi reads the modes of its
	// creates in another way. MODEL.md of package zktest has all of it.
	Version38 bool

	// ContainerCheckInterval is how often the server looks for empty containers, and
	// for nodes with a TTL whose time is over. The default is a real server's, one
	// minute.
	ContainerCheckInterval time.Duration

	// NoTTLNodes switches nodes with a TTL off. A server without them answers that
	// the request is not implemented, as a real server does by default.
	NoTTLNodes bool

	// RequestLog is how many requests zktest.Server.Requests remembers, none if it is
	// negative. The default is 100,000, which is plenty for a test; a program that serves for long wants less.
	// An ensemble remembers as many for each member, and again for all of them. It has
	// no influence on CountRequests and Stats.
	RequestLog int

	// RequiredSASL makes the server refuse every request of a connection that has not
	// authenticated by SASL, even a ping, with the code -124, and end the connection.
	// It stands for the settings enforce.auth.enabled=true and
	// enforce.auth.schemes=sasl. It makes sense with zktest.WithSASLUser only.
	RequiredSASL bool

	// Schedule gets each message between clients and servers, and decides when it
	// arrives: it waits for [Message.Deliver]. So a test chooses among all the orders
	// in which things may happen. Package explore does that.
	//
	// Schedule must return at once, and must not call the server. It is called with
	// messages of one connection in their order. Messages that nobody delivers wait
	// for the end of their connection. With a scheduler, listings come in an order
	// that depends on nothing but the number of the connection. It does not go with a
	// chaos plan, which is an error then.
	Schedule func(*Message)

	// SyncLimit is how many ticks the members of an ensemble put up with each other's
	// silence: a follower that is cut off from its leader drops its clients after that
	// time, and a leader without a majority steps down one tick later. The default is
	// 5, as in the configuration that ZooKeeper comes with. It has no effect on a
	// standalone server.
	SyncLimit int

	// Tick makes sessions expire only at multiples of it, as on a real server, whose
	// tick is typically 2 seconds: at the first multiple after the timeout. With 0, the
	// default of a standalone server, a session expires exactly its timeout after the
	// client was last heard of. The default of an ensemble, also for 0, is 100
	// milliseconds, and SyncLimit counts in these ticks.
	Tick time.Duration

	// WallClock returns the time that the server writes into nodes, as their Ctime and
	// Mtime: for tests that compare what a program prints with a file, over TCP, where
	// package testing/synctest cannot help. Timeouts go by the real time. The server
	// calls the function with its lock held, so that it must not call the server.
	WallClock func() time.Time
}

// Message is a request, an answer or a watch event on its way between a client
// and a server, see [Settings.Schedule]. Messages of one connection in one direction
// arrive in their order: a message that is delivered early waits for earlier
// messages. Its fields must not be changed.
type Message struct {
	Host   any   // the client's *zktest.Host, or nil for a client that has none
	Member int   // the number of the server; 0 for a standalone server
	Conn   int64 // number of the connection, counted from 1 in the order of their beginning

	// Request is the zktest.Request, or the answered request, then with its
	// result. Of an event it has the session and the path only.
	Request any
	Answer  bool   // the message is the answer
	Event   string // what has happened to the path, such as NodeDeleted; "" unless the message is an event

	// Deliver lets the message arrive. A request arrives with what the action, a
	// zktest.Action, does to it, as if a rule had hit it; without an action it is nil.
	// All but the first call do nothing.
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

	// With returns a zktest.Option. A server has the settings of the last With. What
	// is zero stands for the default.
	With func(Settings) any

	// HoldRequest returns a zktest.Action that cuts the connection, and carries out
	// the request d later, as a server of an ensemble does that stalls with a request
	// and then goes on. The client cannot tell this from DropRequest, and may have
	// another session by then. The request is still refused if its session has ended,
	// or has been taken up over another connection, and it is lost if the server has
	// ended, or follows another leader, or none. So is a handshake. A paused server
	// carries it out when it goes on, and a server whose leader is out of reach for
	// less than the sync limit when it reaches the leader again. Server.Requests has
	// it then. A d that is not positive makes no sense.
	HoldRequest func(d time.Duration) any

	// Reset returns a zktest.Action that is DropRequest with the end that TCP's RST
	// makes: the client does not even get what was sent to it before and what it has
	// not read.
	Reset func() any

	// Suspended returns a function that tells for how long a *zktest.Host has slept in
	// all, see insider.WithSuspendClock.
	Suspended func(host any) func() time.Duration
)

// The requests that only tests of this module name. Their type is zktest.Op.
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

// The codes that only tests of this module name. Their type is zktest.Code.
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
