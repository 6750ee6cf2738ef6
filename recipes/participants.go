package recipes

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// Participant is a contender for a lock, as its node says.
type Participant struct {
	Path     string    // of its node; see Revoke
	Position int       // in the queue, from 0
	Holder   bool      // holds the lock
	Shared   bool      // is a reader of an InterProcessReadWriteLock
	Token    int64     // its node's czxid: its fencing token, when it holds the lock, but for a reader that was a writer
	Session  int64     // the id of its session
	Since    time.Time // when it queued, by the server's clock
	Identity Identity  // what its node says of its owner
	Data     []byte    // in which it says so, as it is, but no more than its first 4 KiB
}

// ID returns the name by which people know the participant: what WithID or WithNodeData has set, in Java the id of a
// candidate, if that can be printed in a line; or else the Identity. Who was asked to give the lock up, by Revoke, has no
// name any more.
func (p Participant) ID() string {
	foreign := p.Identity.Foreign != "" && !bytes.Equal(p.Data, revocationMarker)
	if id := inALine(string(p.Data)); foreign && id != "" {
		return id
	}
	return p.Identity.String()
}

// participantReads is how many nodes are read at once.
const participantReads = 32

// participants returns the contenders in the order of the queue. One that leaves meanwhile is left out, which may leave a
// gap in the positions.
func (l *lock) participants(ctx context.Context) ([]Participant, error) {
	return l.participantsOf(ctx, func(queue []lockloop.Contender) []bool {
		return lockloop.Holders(queue, l.loop.Blocks)
	})
}

// contenders returns the queue.
func (l *lock) contenders(ctx context.Context) ([]lockloop.Contender, error) {
	if err := l.usable(); err != nil {
		return nil, &framework.OpError{Op: "participants", Path: l.name, Err: err}
	}
	return l.loop.Queue(ctx)
}

// participantsOf is participants for a lock that knows its holders.
func (l *lock) participantsOf(ctx context.Context, holdersOf func(queue []lockloop.Contender) []bool) ([]Participant, error) {
	queue, err := l.contenders(ctx)
	if err != nil {
		return nil, err
	}
	holders := holdersOf(queue)
	all := make([]Participant, len(queue))
	errs := make([]error, len(queue))
	var reads sync.WaitGroup
	slots := make(chan struct{}, participantReads)
	for i, c := range queue {
		slots <- struct{}{}
		reads.Go(func() {
			defer func() { <-slots }()
			all[i], errs[i] = readParticipant(ctx, l.loop.Client, lockloop.Join(l.loop.Path, c.Node))
			all[i].Position = i
			all[i].Shared = c.Kind == readKind
			all[i].Holder = holders[i]
		})
	}
	reads.Wait()
	return withoutVanished(all, errs)
}

func readParticipant(ctx context.Context, c *framework.Client, path string) (Participant, error) {
	data, stat, err := c.Get(ctx, path)
	if err != nil {
		return Participant{}, err
	}
	return Participant{
		Path:     path,
		Token:    stat.Czxid,
		Session:  stat.EphemeralOwner,
		Since:    time.UnixMilli(stat.Ctime),
		Identity: ReadIdentity(data),
		Data:     lockloop.Clip(data),
	}, nil
}

func withoutVanished(all []Participant, errs []error) ([]Participant, error) {
	for _, err := range errs {
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return nil, err
		}
	}
	return slices.DeleteFunc(all, func(p Participant) bool { return p.Path == "" }), nil
}
