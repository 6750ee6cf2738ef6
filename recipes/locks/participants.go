package locks

import (
	"fmt"
	"time"

	"github.com/gocurator/curator/recipes/internal/identity"
	"github.com/gocurator/curator/recipes/internal/seat"
)

// Participant is a contender for a lock or a leadership, read from its node. The lock of
// a holder may be idle at the moment; see ReleasePolicy.
type Participant struct {
	Path     string    // the path of its node; see Revoke
	Position int       // its place in the queue, from 0
	Holder   bool      // it holds the lock; see also InterProcessSemaphore.Participants
	Reader   bool      // it wants the read side of a read/write lock
	Token    int64     // the czxid of its node, and its fencing token, except for a reader that was a writer
	Session  int64     // the id of its session
	Since    time.Time // when it queued, by the server's clock
	Data     []byte    // the first 4 KiB of what its node says about its owner
}

// Identity returns what the participant's node says about its owner.
func (p Participant) Identity() Identity { return ReadIdentity(p.Data) }

// ID returns a readable name of the participant: the text from leader.WithID or
// WithNodeData, or the id of a candidate in Java, if the text can be printed in one line;
// otherwise the Identity. Revoke overwrites the name.
func (p Participant) ID() string { return idOf(p.Data) }

// String returns a readable name of the owner: the process if the node identifies it, or
// else the ID and the session. A participant without a Path, which leader.Observe returns
// if there is no leader, is "nobody".
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
