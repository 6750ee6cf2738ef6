package inspect

import (
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/internal/order"
	"github.com/gocurator/curator/recipes/internal/seat"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
)

// Recipe is a lock, a leader election, a semaphore, a group of registrations or a
// queue, in the state of its nodes when they were read. A path may have several
// recipes: locks of different kinds at one path do not exclude each other.
type Recipe struct {
	Path string
	Kind Kind

	// Layout is the scheme of the nodes' names: "kazoo", or "curator" for this library,
	// Java Curator and go-zookeeper's Lock. Registrations have no Layout.
	Layout string

	// MayBe has the other kinds whose nodes have the same names. The nodes do not show
	// which kind it is. Three kinds occur only in MayBe: "leader_selector",
	// "semaphore_mutex", and kazoo's "election".
	MayBe []Kind

	// Holders hold the lock or a lease of the semaphore, lead, or are registered. The
	// holders of a queue work on an item.
	Holders []Participant

	// Waiters are in the order in which they will be served. A semaphore has
	// one line of waiters: the first waiter may have two nodes or more, which
	// are new leases and its node at the gate.
	Waiters []Participant

	// Unread is how many participants were omitted because of WithMaxParticipants. If
	// Unread is not 0 and there are neither holders nor waiters, the recipe may be held
	// or free: its participants changed during each of several reads, and Unread of
	// them had left before they could be read.
	Unread int

	// Limit is the number of leases of a semaphore, or nil if it is not known. See
	// WithSharedLimits.
	Limit *int

	// Items is the length of a queue, and Since is when its first item was
	// added, by the server's clock.
	Items int
	Since time.Time

	// Reason is why the path is Unreadable.
	Reason string
}

// Kind is the purpose of the nodes below a path. Kinds of locks and leaders have the
// names that tracers and spans use, such as "read_write_lock".
type Kind string

// The kinds.
const (
	Mutex         Kind = locktrace.RecipeMutex
	ReadWriteLock Kind = locktrace.RecipeReadWriteLock
	Semaphore     Kind = locktrace.RecipeSemaphore
	LeaderLatch   Kind = locktrace.RecipeLeaderLatch

	// Registrations are all other ephemeral nodes: members of a nodes.Group or of
	// kazoo's Party, persistent nodes, instances of services, members of a double
	// barrier. See also WithServices.
	Registrations Kind = "registrations"

	// Queue is a queue of items: Java Curator's DistributedQueue and
	// SimpleDistributedQueue, or kazoo's Queue and LockingQueue.
	Queue Kind = "queue"

	// Unreadable is a path whose children the client may not list. What the path
	// contains is unknown. The path may also be a registration.
	Unreadable Kind = "unreadable"

	// These occur only in MayBe.
	semaphoreMutex Kind = locktrace.RecipeSemaphoreMutex
	leaderSelector Kind = locktrace.RecipeLeaderSelector
	election       Kind = "election"
)

// isKnown reports whether the kind exists.
func (k Kind) isKnown() bool {
	switch k {
	case Mutex, ReadWriteLock, Semaphore, semaphoreMutex, LeaderLatch, leaderSelector, election,
		Registrations, Queue, Unreadable:
		return true
	}
	return false
}

// The layouts.
const (
	curatorLayout = "curator"
	kazooLayout   = "kazoo"
)

// Participant is one node of a recipe, with the node's information about its owner.
type Participant struct {
	Path     string
	Position int       // among the holders and waiters, from 0
	Czxid    int64     // the id of the transaction that created the node; usually the fencing token
	Session  int64     // 0 if the node is not ephemeral: no crash removes it
	Since    time.Time // when the node was created, by the server's clock

	Reader  bool // it holds or waits for the read side of a read/write lock
	Revoked bool // another client has asked it to give up the lock

	// If KeptUntil is not zero, the lock was released, but its node is kept until that
	// time, by the clock of the owner's process; see locks.ReleasePolicy.
	KeptUntil time.Time

	// Unsure means that the participant may either hold or wait:
	//
	//   - The node is a lease of the next waiter at a semaphore whose limit is not
	//     known.
	//   - The semaphore has too many leases, one of which may not be read, and the
	//     waiter at the gate may own that lease.
	//   - The numbers in the names of a queue are used up, and one of its nodes may
	//     not be read.
	//   - The node is a writer, and a writer ahead of it was deleted during the last of
	//     several reads: that writer may have become a reader that holds the lock.
	Unsure bool

	// Unreadable means that the client may not read the node. The owner is not known,
	// and the session and the czxid are 0 unless the server reveals them.
	Unreadable bool

	// ID is the owner's name for people; see locks.Participant.ID.
	ID string

	// These fields are the information of this library's nodes about their owners. Any
	// client may have written the data, which are for people: no decision may depend on
	// them.
	Service string
	Host    string
	PID     int
	Waiting time.Time // when the owner began to wait, by its own clock
	Trace   map[string]string

	// Instance is the service instance of a registration; it is nil for any other node.
	// Without WithServices, only the formats of Java Curator, Spring Cloud and Dubbo
	// are recognised. ID is then the address of the instance, if that can be printed in
	// a line.
	Instance *discovery.Instance

	// Problem is the reason why a node in the place of a service instance is not one;
	// see WithServices. The Instance has the names of the service and the node.
	Problem string
}

// participantOf describes a node.
func participantOf(path string, data []byte, stat *zk.Stat) Participant {
	p := locks.Participant{Path: path, Data: order.Clip(data)}
	id := p.Identity()
	return Participant{
		Path: path, Czxid: stat.Czxid, Session: stat.EphemeralOwner,
		Since: time.UnixMilli(stat.Ctime).UTC(), Revoked: seat.IsRevocation(data),
		KeptUntil: id.KeptUntil,
		ID:        p.ID(), Service: id.Service, Host: id.Host, PID: id.PID, Waiting: id.Since, Trace: id.Trace,
	}
}

// process returns a text that is the same for all nodes of a process. If the node does
// not name its process, the text is empty.
func (p Participant) process() string {
	if p.Host == "" || p.PID == 0 {
		return ""
	}
	return fmt.Sprintf("%s@%s/%d", p.Service, p.Host, p.PID)
}

// String names the owner for people. It ends with "(may wait)" if the participant is
// Unsure, and with the time of KeptUntil if that is set.
func (p Participant) String() string {
	switch {
	case p.Unsure:
		return p.owner() + " (may wait)"
	case !p.KeptUntil.IsZero():
		return p.owner() + " (released, kept until " + p.KeptUntil.UTC().Format(time.RFC3339) + ")"
	}
	return p.owner()
}

func (p Participant) owner() string {
	session := fmt.Sprintf("session %#x", uint64(p.Session))
	switch {
	case p.process() != "":
		return p.ID
	case p.ID == locks.Identity{}.String():
		return session
	}
	return p.ID + " (" + session + ")"
}

// number sets the positions, and removes all participants after the first most.
func (r *Recipe) number(most int) {
	for i := range r.Holders {
		r.Holders[i].Position = i
	}
	for i := range r.Waiters {
		r.Waiters[i].Position = len(r.Holders) + i
	}
	if n := len(r.Holders) + len(r.Waiters) - most; n > 0 {
		r.Unread += n
		r.Holders = r.Holders[:min(len(r.Holders), most)]
		r.Waiters = r.Waiters[:max(0, min(len(r.Waiters), most-len(r.Holders)))]
	}
}

// sureHolders counts the holders that surely hold.
func (r *Recipe) sureHolders() (n int) {
	for _, p := range r.Holders {
		if !p.Unsure {
			n++
		}
	}
	return n
}
