package inspect

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/recipes/locks"
)

// Recipe is a lock, a leader election, a semaphore, a group of registrations or
// a queue, as its nodes were when they were read. A path may have several:
// locks of different kinds on one path do not exclude each other.
type Recipe struct {
	Path   string `json:"path"`
	Kind   Kind   `json:"kind"`
	Layout Layout `json:"layout,omitempty"`

	// MayBe has the other kinds whose nodes have the same names. Nothing in the
	// nodes tells them apart.
	MayBe []Kind `json:"may_be,omitempty"`

	// Holders have the lock or a lease of the semaphore, lead, or are
	// registered. The holders of a queue work on an item.
	Holders []Participant `json:"holders,omitempty"`

	// Waiters are in the order in which they will be served. A semaphore has
	// one line of those that wait: the first may have two nodes or more, which
	// are new leases and its node at the gate.
	Waiters []Participant `json:"waiters,omitempty"`

	// Unread is how many participants were left out because of
	// WithMaxParticipants. If there are neither holders nor waiters, nobody knows
	// whether the recipe is free: it was handed over, or taken, in each of several
	// looks, and so many had gone before they were read.
	Unread int `json:"unread,omitempty"`

	// Limit is how many leases of a semaphore there are, or nil if that is not
	// known. See WithSharedLimits.
	Limit *int `json:"limit,omitempty"`

	// Items is the length of a queue, and Since is when its first item was
	// added, by the server's clock.
	Items int       `json:"items,omitempty"`
	Since time.Time `json:"since,omitzero"`

	// Reason is why the path is Unreadable.
	Reason string `json:"reason,omitempty"`
}

// Participant is one node of a recipe, and what it says of its owner.
type Participant struct {
	Path     string    `json:"path"`
	Position int       `json:"position"`       // among the holders and waiters, from 0
	Czxid    int64     `json:"czxid"`          // the node's; the fencing token, as a rule
	Session  SessionID `json:"session"`        // 0 if the node is not ephemeral: no crash removes it
	Since    time.Time `json:"since,omitzero"` // the time at which the node was created, by the server's clock

	Reader  bool `json:"reader,omitempty"`  // it wants the read side of a read/write lock
	Revoked bool `json:"revoked,omitempty"` // somebody has asked it to give the lock up

	// KeptUntil says that the lock was released, and stays until then, by the
	// clock of the owner's process; see locks.WithMinimumHold. It is zero for any
	// other participant.
	KeptUntil time.Time `json:"kept_until,omitzero"`

	// Unsure says that it is not known whether the participant holds or waits: a
	// lease of the next to get one, if the limit is not known, or a lease that may
	// not be read, if there are more than the limit. Then the leases of the next
	// one are unsure, too. So is the queue of a contender that may not be read, if
	// the numbers in its nodes' names are used up. So is a writer ahead of whom
	// others have downgraded in each look: one of them may hold the lock.
	Unsure bool `json:"unsure,omitempty"`

	// Unreadable says that the node may not be read. The owner is not
	// known, and the session and the czxid are 0 unless the server tells them.
	Unreadable bool `json:"unreadable,omitempty"`

	// ID is the name by which people know the owner; see locks.Participant.ID.
	ID string `json:"id"`

	// These are what a node of this library says of its owner. Anybody may have
	// written it: it is for people, and decides nothing.
	Service string            `json:"service,omitempty"`
	Host    string            `json:"host,omitempty"`
	PID     int               `json:"pid,omitempty"`
	Waiting time.Time         `json:"waiting_since,omitzero"` // a time by the owner's clock
	Trace   map[string]string `json:"trace,omitempty"`

	// Instance is what a registration says of a service, in the format of Java
	// Curator, Spring Cloud or Dubbo; else it is nil. ID is where the instance
	// listens then, if that can be printed in a line. The nodes of other formats do
	// not say what they are, but Services reads them. The JSON form leaves it out.
	Instance *discovery.Instance `json:"-"`
}

// participantOf describes a node.
func participantOf(path string, data []byte, stat *zk.Stat) Participant {
	p := locks.Participant{Path: path, Data: lockloop.Clip(data)}
	id := p.Identity()
	return Participant{
		Path: path, Czxid: stat.Czxid, Session: SessionID(stat.EphemeralOwner),
		Since: time.UnixMilli(stat.Ctime).UTC(), Revoked: claim.IsRevocation(data),
		KeptUntil: id.KeptUntil,
		ID:        p.ID(), Service: id.Service, Host: id.Host, PID: id.PID, Waiting: id.Since, Trace: id.Trace,
	}
}

// process returns a text that is the same for all nodes of a process, or an
// empty one if the node does not name its process.
func (p Participant) process() string {
	if p.Host == "" || p.PID == 0 {
		return ""
	}
	return fmt.Sprintf("%s@%s/%d", p.Service, p.Host, p.PID)
}

// String names the owner for people. It ends with "(may wait)" if the
// participant is Unsure, and with the time of KeptUntil if it has that.
func (p Participant) String() string {
	switch {
	case p.Unsure:
		return p.owner() + " (may wait)"
	case p.isKept():
		return p.owner() + " (released, kept until " + p.KeptUntil.UTC().Format(time.RFC3339) + ")"
	}
	return p.owner()
}

// isKept reports whether nobody works under the lock, which goes by itself.
func (p Participant) isKept() bool { return !p.KeptUntil.IsZero() }

func (p Participant) owner() string {
	switch {
	case p.process() != "":
		return p.ID
	case p.ID == locks.Identity{}.String():
		return "session " + p.Session.String()
	default:
		return p.ID + " (session " + p.Session.String() + ")"
	}
}

// SessionID is the id of a session. As text and in JSON it is in hexadecimal
// digits, such as "0x1000a2b3c4d0001", as in ZooKeeper's own logs.
type SessionID int64

// String returns the text form.
func (id SessionID) String() string { return "0x" + strconv.FormatUint(uint64(id), 16) }

// MarshalText returns the text form.
func (id SessionID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads the text form.
func (id *SessionID) UnmarshalText(text []byte) error {
	digits, ok := strings.CutPrefix(string(text), "0x")
	n, err := strconv.ParseUint(digits, 16, 64)
	if !ok || err != nil {
		return fmt.Errorf("session id %q: not a hexadecimal number", text)
	}
	*id = SessionID(n)
	return nil
}
