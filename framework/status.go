package framework

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/broadcast"
	"github.com/gocurator/curator/state"
)

// Status is the state of a client at one moment, for people to read: package
// debug/curatorz shows it on a page.
type Status struct {
	Chroot string // empty if the connection string has none
	Closed bool

	State state.State
	Since time.Time // the time of the transition to State; zero for Initial
	Cause error     // why there is no connection, as far as that is known

	// NeverConnected means that no server has accepted the client yet. The State is
	// then Initial, or Suspended or Lost after failed attempts.
	NeverConnected bool

	Session *SessionStatus // the newest; nil if no server has accepted one

	Servers        []ServerStatus // sorted by address
	ServersProblem error          // why the list of servers is not the newest, or nil

	Watches []WatchStatus // sorted by path; a closed client has none
}

// SessionStatus is a session at one moment.
type SessionStatus struct {
	ID          int64
	Established time.Time
	Server      string        // the address of the newest connection or attempt
	Timeout     time.Duration // what the server has granted
	LastContact time.Time     // the time at which the newest answered request was sent

	// Left is how long the session can be trusted without another answer. It is
	// negative when that time is over.
	Left time.Duration

	Ended error // why it is over, or nil

	ErrorPolicy   state.ErrorPolicy
	SafetyMargin  float64
	StrictContact bool
}

// ServerStatus is this client's view of a server.
type ServerStatus struct {
	Address   string
	Connected bool // the client is connected to this server
	Listed    bool // the server is in the list of servers
	Attempts  int  // how often the client has tried to connect
	Failures  int  // how many attempts have failed
	Last      time.Time
	Err       error // why the newest attempt failed, or nil
}

// WatchStatus is a watch of the newest session.
type WatchStatus struct {
	Path       string // the server's path, with the chroot
	Children   bool   // a watch of children, otherwise of data
	Persistent bool   // a watch of both, which stays until it is removed
	Recursive  bool   // a watch of all nodes below, too
	Waiters    int    // how many waiters share the watch
	Set        bool   // the server has confirmed it
}

// Status returns what the client knows of itself. Status sends nothing. Its duration
// grows with the number of watches.
func (e Extension) Status() Status {
	c := e.core
	s, status := c.statusOfClient()
	status.ServersProblem = c.serverList.problem()
	status.Servers = withListed(status.Servers, c.serverList.servers())
	if s == nil {
		return status
	}
	if !status.Closed {
		for _, w := range s.watches.List() {
			status.Watches = append(status.Watches, WatchStatus(w))
		}
	}
	if status.Session != nil { // not under the client's lock: the link has its own
		contact, timeout := s.link.LastContact()
		status.Session.LastContact, status.Session.Timeout = time.Now().Add(contact.Sub(c.now())), timeout
		status.Session.Left, _ = s.timeLeft()
	}
	return status
}

func (c *core) statusOfClient() (*Session, Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.last.Value
	status := Status{
		Chroot: c.root.chroot, Closed: c.closed,
		State: last.State, Since: last.Time, Cause: last.Cause, NeverConnected: !c.machine.HasConnected(),
		Servers: c.attempts.list(),
	}
	s := c.session
	if s == nil {
		return nil, status
	}
	connected := last.State.IsConnected() && !c.closed
	if !connected {
		status.Cause = cmp.Or(c.attempt, last.Cause)
	}
	for i := range status.Servers {
		status.Servers[i].Connected = connected && status.Servers[i].Address == s.server
	}
	if !s.established.IsZero() {
		status.Session = &SessionStatus{
			ID: s.id, Established: s.established, Server: s.server,
			Ended: context.Cause(s.ctx), ErrorPolicy: c.cfg.policy,
			SafetyMargin: c.cfg.safetyMargin, StrictContact: c.cfg.strictContact,
		}
	}
	return s, status
}

// list returns the servers by address.
func (a *attempts) list() []ServerStatus {
	var all []ServerStatus
	for address, s := range a.byServer {
		all = append(all, ServerStatus{
			Address: address, Attempts: s.begun, Failures: s.failed, Last: s.last, Err: s.err,
		})
	}
	slices.SortFunc(all, byAddress)
	return all
}

func byAddress(a, b ServerStatus) int { return cmp.Compare(a.Address, b.Address) }

// withListed marks the servers in the list, and adds listed servers that were never
// tried.
func withListed(tried []ServerStatus, listed []string) []ServerStatus {
	for _, address := range listed {
		i := slices.IndexFunc(tried, func(s ServerStatus) bool { return s.Address == address })
		if i < 0 {
			i = len(tried)
			tried = append(tried, ServerStatus{Address: address})
		}
		tried[i].Listed = true
	}
	slices.SortFunc(tried, byAddress)
	return tried
}

// State returns the state of the connection now.
func (c *Client) State() state.State {
	return c.lastChange().Value.State
}

func (c *core) lastChange() *broadcast.Node[clienttrace.StateChange] {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// States returns the transitions that follow this call, each of them once and
// in order, until ctx ends or the client is closed. Closing is not a
// transition.
//
//	for s := range client.States(ctx) {
//		log.Println("zookeeper:", s)
//	}
//
// If another goroutine reads the transitions, call States before starting it; otherwise
// it could miss a transition.
//
// A slow reader delays no other code and misses no transition. Unread transitions stay
// in memory: a reader that stops reading without leaving the loop keeps every
// transition until the client is closed. When a reader sees a transition, the client's
// state and the contexts of the session have already changed.
func (c *Client) States(ctx context.Context) iter.Seq[state.State] {
	start := c.lastChange()
	return func(yield func(state.State) bool) {
		for change := range start.All(ctx.Done(), c.ctx.Done()) {
			if ctx.Err() != nil || !yield(change.State) {
				return
			}
		}
	}
}
