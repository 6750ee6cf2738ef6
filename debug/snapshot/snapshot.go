package snapshot

import (
	"encoding/json"
	"math"
	"time"
)

// Version is the version of the JSON form. It grows when a field changes its
// meaning or goes. New fields do not change it.
const Version = 1

// Snapshot is what some clients of one process do at one moment. Each part is
// consistent in itself, but the parts are read one after the other: a lock that
// is granted meanwhile may show up twice, or not at all.
type Snapshot struct {
	Version int       `json:"version"`
	Time    time.Time `json:"time"` // the clock of the process
	Process Process   `json:"process"`
	Clients []Client  `json:"clients"` // the order is the arguments'

	// Filter is what Matching has looked for. With one, the lists hold only
	// what matches, and Total counts only that.
	Filter string `json:"filter,omitempty"`
}

// Process is the process that the clients belong to.
type Process struct {
	Program    string `json:"program"` // base name of the executable
	Host       string `json:"host"`
	PID        int    `json:"pid"`
	GoVersion  string `json:"go_version"`
	Goroutines int    `json:"goroutines"`
}

// Client is one client, with all views of it. Its paths begin at the server's
// root: they have the chroot, and the namespaces of the views.
type Client struct {
	Service string `json:"service"`          // see framework.WithServiceName
	Chroot  string `json:"chroot,omitempty"` // the connection string's
	Closed  bool   `json:"closed,omitempty"`

	State State `json:"state"`

	// Session is the present session. It is nil until a server has accepted it:
	// before the first connection, and after a loss until there is one again.
	Session *Session `json:"session,omitempty"`

	Servers        []Server `json:"servers"`
	ServersProblem string   `json:"servers_problem,omitempty"` // why the list of servers is not the newest

	Watches       List[Watch]        `json:"watches"`
	WatchesSet    int                `json:"watches_set"`   // how many of Watches.Total a server has confirmed
	Holds         List[Hold]         `json:"holds"`         // the oldest first
	Waits         List[Wait]         `json:"waits"`         // the longest first
	Registrations List[Registration] `json:"registrations"` // those that have ended, then by path
	Caches        List[Cache]        `json:"caches"`        // those that have ended, then by root
	Instances     List[Instance]     `json:"instances"`     // those of Registrations that are a service's
	Directories   List[Directory]    `json:"directories"`   // those that have ended, then by root

	// Events are the last things that happened, the oldest first. Rare ones,
	// such as losses, are kept for longer than frequent ones, such as grants:
	// there may be gaps between old events. There are no more than MaxItems.
	Events []Event `json:"events"`

	// Recorded is false if framework.WithRecentEvents(0) has turned the record
	// off. Then there are no holds, waits, registrations, caches, instances,
	// directories and events.
	Recorded bool `json:"recorded"`
}

// List is a list that may have been cut off, so that a process with very many
// locks can still be looked at.
type List[T any] struct {
	Total int `json:"total"`
	Items []T `json:"items"` // no more than MaxItems
}

// MaxItems is how many items a List has at most.
const MaxItems = 1000

// State is the state of a client's connection.
type State struct {
	Name  string    `json:"name"`            // such as "connected"; see package state
	Since time.Time `json:"since,omitzero"`  // zero before the first one
	Cause string    `json:"cause,omitempty"` // why there is no connection, as far as that is known

	// NeverConnected says that the client is connecting, and that no server has
	// ever accepted it. The name is "initial" until an attempt has failed, and
	// "suspended" or "lost" after that, though there was nothing to lose.
	NeverConnected bool `json:"never_connected,omitempty"`
}

// Session is a session of a client.
type Session struct {
	ID          string    `json:"id"`    // hexadecimal, such as "0x1000a2b3c4d0001"
	Epoch       uint64    `json:"epoch"` // counts the client's sessions, from 1
	Established time.Time `json:"established"`
	Server      string    `json:"server"` // the newest connection's, or the newest attempt's
	Timeout     Seconds   `json:"timeout_seconds"`

	// Left is for how long the session can still be trusted if no server
	// answers any more: the timeout less the safety margin, counted from the
	// last contact. It is negative if that time is over.
	Left Seconds `json:"left_seconds"`

	// LastContact is when the newest request was sent that a server has
	// answered.
	LastContact time.Time `json:"last_contact"`

	// Ended says why the session is over; empty if it is not.
	Ended string `json:"ended,omitempty"`

	ErrorPolicy   string  `json:"error_policy"`
	SafetyMargin  float64 `json:"safety_margin"` // the part of the timeout
	StrictContact bool    `json:"strict_contact"`
}

// Server is a server of the ensemble, as this client has found it.
type Server struct {
	Address   string    `json:"address"`
	Connected bool      `json:"connected"` // the present connection is to this one
	Listed    bool      `json:"listed"`    // it is in the list of servers now
	Attempts  int       `json:"attempts"`  // how often the client has tried to connect
	Failures  int       `json:"failures"`  // how many attempts have failed
	Last      time.Time `json:"last_attempt,omitzero"`
	Error     string    `json:"error,omitempty"` // why the newest attempt has failed
}

// Watch is one watch that the server has for the client, or will have as soon
// as there is a connection and an answer. A closed client has none.
type Watch struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"` // "data", "children", "persistent" or "persistent recursive"
	Waiters int    `json:"waiters"`
	Set     bool   `json:"set"` // the server has confirmed it
}

// Hold is a lock or a leadership that is held, or was lost and is not released.
// If the program has dropped the lease of a lost one, nobody can release it: it
// is shown until its nodes are gone, and the garbage collector has found that.
type Hold struct {
	Path   string    `json:"path"`
	Recipe string    `json:"recipe"` // see package recipes/locktrace
	Name   string    `json:"name,omitempty"`
	Shared bool      `json:"shared,omitempty"` // the read side of a read/write lock
	Leases int       `json:"leases,omitempty"` // a semaphore's; 0 for one
	Node   string    `json:"node"`             // the base name of its node
	Token  int64     `json:"token,omitempty"`  // the fencing token
	Since  time.Time `json:"since"`            // the grant
	Waited Seconds   `json:"waited_seconds"`   // how long the acquire took

	// Waiting is how many acquires of the same client wait at this path. Those
	// of other clients are not known here: zklock ls lists them.
	Waiting int `json:"waiting,omitempty"`

	// Revoked says that somebody has asked for the lock.
	Revoked bool `json:"revoked,omitempty"`

	// Releasing says that the node is being deleted.
	Releasing bool `json:"releasing,omitempty"`

	// Lost says why the lock is lost, though it is not released. Work that
	// relied on it should have stopped.
	Lost string `json:"lost,omitempty"`
}

// Wait is an acquire that is under way.
type Wait struct {
	Path   string    `json:"path"`
	Recipe string    `json:"recipe"`
	Name   string    `json:"name,omitempty"`
	Shared bool      `json:"shared,omitempty"`
	Leases int       `json:"leases,omitempty"`
	Since  time.Time `json:"since"`

	// Stage says what the acquire does: "starting" until it has a node, "in
	// process" while it waits for goroutines of its own client, "queued" and
	// "waiting" at the server.
	Stage string `json:"stage"`

	// Ahead is how many contenders were ahead when the acquire last looked. For
	// an acquire that waits in the process, no fewer are ahead.
	Ahead int `json:"ahead"`

	// Seen is when the acquire last looked; zero if it never saw the queue.
	Seen time.Time `json:"seen,omitzero"`

	Node   string     `json:"node,omitempty"`   // the base name of its node
	Next   *Contender `json:"next,omitempty"`   // right ahead
	Holder *Contender `json:"holder,omitempty"` // first in the queue
}

// Contender is another contender, as a waiter has seen it.
type Contender struct {
	Node string `json:"node"`         // the base name
	ID   string `json:"id,omitempty"` // the owner, such as "orders@web-1/4711"

	// Since is the time at which it queued, on the server's clock. It is zero
	// if the server has told a time that JSON cannot have.
	Since time.Time `json:"since,omitzero"`

	Local bool `json:"local,omitempty"` // it is a lease of the same client
}

// Registration is a node that recipes/nodes keeps registered, or one whose
// registration has ended by itself: with an error that waiting does not cure,
// or because the server refuses to delete the node.
//
// The last 16 that have ended so are kept until the client is closed, or the
// same path is registered anew.
type Registration struct {
	Path       string    `json:"path"`           // the path that was asked for
	Node       string    `json:"node,omitempty"` // the path of the node, if it is there, or may be
	Registered bool      `json:"registered"`
	Czxid      int64     `json:"czxid,omitempty"`
	Since      time.Time `json:"since,omitzero"`    // the last change between registered and not
	Trouble    string    `json:"trouble,omitempty"` // why it is not registered, or has ended

	// Deleting says that the registration was closed, or has ended, and that
	// the node is not known to be deleted. It may exist until the client has
	// deleted it, or its session has ended at the servers.
	Deleting bool `json:"deleting,omitempty"`

	// Ended is when the registration has ended by itself; zero if it has not.
	Ended time.Time `json:"ended,omitzero"`
}

// Cache is a cache of recipes/cache, or one that has ended by itself, as it was
// then. The last 16 that have ended so are kept until the client is closed, or
// there is another cache of the same root.
type Cache struct {
	Root    string  `json:"root"`
	Synced  bool    `json:"synced"` // it was filled at least once
	Nodes   int     `json:"nodes"`
	ToRead  int     `json:"to_read"` // reads that are still to be done
	Zxid    int64   `json:"zxid"`    // the transaction as of which it equals the tree
	Lag     Seconds `json:"lag_seconds"`
	Behind  int64   `json:"behind"` // transactions of the ensemble
	Resyncs int64   `json:"resyncs"`

	Unreadable int    `json:"unreadable,omitempty"` // nodes that could not be read
	Trouble    string `json:"trouble,omitempty"`    // why the root is one of them

	Error string    `json:"error,omitempty"` // why it has ended
	Ended time.Time `json:"ended,omitzero"`  // zero if it goes on
}

// Instance is an instance of a service that recipes/discovery keeps registered.
// Its node is one of Client.Registrations, too.
type Instance struct {
	Service string `json:"service"`
	ID      string `json:"id"`
	Address string `json:"address,omitempty"`
	Port    int    `json:"port,omitempty"`
	TLSPort int    `json:"tls_port,omitempty"`

	// State is the first of these that holds:
	//
	//   - "ended": the registration has ended by itself;
	//   - "deleting": it was closed, and its node is not known to be deleted;
	//   - "conflict": somebody else has the ID;
	//   - "missing": it is not registered;
	//   - "draining": it is visible, and does not want to be picked;
	//   - "registered".
	State string `json:"state"`

	Node    string    `json:"node"`              // its path
	Since   time.Time `json:"since,omitzero"`    // the last change between registered and not, or the end
	Trouble string    `json:"trouble,omitempty"` // why it has this state
}

// Directory is a directory of recipes/discovery, or one that has ended by itself,
// as it was then. They are kept as caches are.
type Directory struct {
	Root        string        `json:"root"`
	Filled      bool          `json:"filled"`
	Interrupted bool          `json:"interrupted"` // what it has may be old
	Zxid        int64         `json:"zxid"`        // the transaction as of which it equals the tree
	Instances   int           `json:"instances"`
	Services    List[Service] `json:"services"`          // by name; no more than MaxShown
	Malformed   List[Bad]     `json:"malformed"`         // nodes that should be instances; no more than MaxShown
	Trouble     string        `json:"trouble,omitempty"` // what the directory may not read
	Error       string        `json:"error,omitempty"`   // why it has ended
	Ended       time.Time     `json:"ended,omitzero"`    // zero if it goes on
}

// MaxShown is how many services, and malformed nodes, a Directory has at most.
const MaxShown = 20

// Service is what a directory has of one service.
type Service struct {
	Name      string `json:"name"`
	Instances int    `json:"instances"`         // all of them
	Drained   int    `json:"drained,omitempty"` // those that do not want to be picked
}

// Bad is a node that should be an instance.
type Bad struct {
	Path    string `json:"path"`
	Problem string `json:"problem"`
}

// Event is something that happened.
type Event struct {
	Time time.Time `json:"time"`

	// Kind says what kind of event it is:
	//
	//   - "client": the client was opened, or closed;
	//   - "state": the connection has another state;
	//   - "waiting": an acquire began to wait for another contender;
	//   - "acquired": a lock or a leadership was acquired;
	//   - "not acquired": an acquire has ended without;
	//   - "released" and "lost": a lock or a leadership was;
	//   - "revoked": somebody has asked for a lock that is held;
	//   - "registration": there is news of a node that is kept registered;
	//   - "cache": there is news of a cache;
	//   - "instance": an instance of a service drains, or does not any more;
	//   - "directory": there is news of a directory;
	//   - "ejected": a picker has taken an instance out.
	Kind string `json:"kind"`

	Path   string `json:"path,omitempty"`
	Recipe string `json:"recipe,omitempty"` // a lock's
	Name   string `json:"name,omitempty"`   // a lock's, or the new state's
	Node   string `json:"node,omitempty"`   // the base name

	// Duration is how long the acquire took, or how long the lock was held.
	Duration Seconds `json:"duration_seconds,omitempty"`

	// Text says in a few words what happened, such as "lost after 3.2s".
	Text string `json:"text"`

	Cause string `json:"cause,omitempty"` // the error behind it

	// Trouble marks what nobody wants to happen: losses, failures,
	// interruptions.
	Trouble bool `json:"trouble,omitempty"`
}

// Seconds is a duration. In JSON it is a number of seconds.
type Seconds time.Duration

// Duration returns the duration.
func (s Seconds) Duration() time.Duration { return time.Duration(s) }

// String returns the text of the duration.
func (s Seconds) String() string { return time.Duration(s).String() }

// MarshalJSON returns the number of seconds.
func (s Seconds) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).Seconds()) }

// UnmarshalJSON reads a number of seconds. One that no time.Duration can hold
// becomes the nearest one.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	var seconds float64
	if err := json.Unmarshal(text, &seconds); err != nil {
		return err
	}
	const most = float64(math.MaxInt64 / int64(time.Second))
	*s = Seconds(math.Round(max(-most, min(most, seconds)) * float64(time.Second)))
	return nil
}
