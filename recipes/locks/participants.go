package locks

import (
	"fmt"
	"time"

	"github.com/gocurator/curator/recipes/internal/identity"
	"github.com/gocurator/curator/recipes/internal/seat"
)

// Participant is a contender for a lock or a leadership, as its node says. The
// holder may be a lock that nobody holds just now; see ReleasePolicy.
type Participant struct {
	Path     string    // its node's path; see Revoke
	Position int       // its place in the queue, from 0
	Holder   bool      // it holds the lock; see also InterProcessSemaphore.Participants
	Reader   bool      // it wants the read side of a read/write lock
	Token    int64     // its node's czxid, which is its fencing token, except for a reader that was a writer
	Session  int64     // the id of its session
	Since    time.Time // the time at which it queued, by the server's clock
	Data     []byte    // what its node says of its owner, as it is, but no more than the first 4 KiB
}

// Identity returns what the participant's node says of its owner.
func (p Participant) Identity() Identity { return ReadIdentity(p.Data) }

// ID returns the name by which people know the participant: the text that
// leader.WithID or WithNodeData has set, or in Java the id of a candidate, if
// it can be printed in a line; or else the Identity. A participant that Revoke
// has asked to give the lock up has no name any more.
func (p Participant) ID() string { return idOf(p.Data) }

// String names the owner for people: by the process if its node says that, or
// else by the ID and the session. It is "nobody" for a participant without a
// Path, which leader.Observe returns if nobody leads.
func (p Participant) String() string {
	if p.Path == "" {
		return "nobody"
	}
	if id := p.Identity(); id.Host != "" && id.PID != 0 {
		return p.ID()
	}
	session := fmt.Sprintf("session %#x", uint64(p.Session))
	if p.ID() == (Identity{}).String() {
		return session
	}
	return p.ID() + " (" + session + ")"
}

func idOf(data []byte) string {
	id := ReadIdentity(data)
	if name := identity.InALine(string(data)); id.Foreign != "" && name != "" && !seat.IsRevocation(data) {
		return name
	}
	return id.String()
}

func participantsOf(all []seat.Participant, err error) ([]Participant, error) {
	if all == nil {
		return nil, err
	}
	participants := make([]Participant, len(all))
	for i, p := range all {
		participants[i] = Participant(p)
	}
	return participants, err
}
