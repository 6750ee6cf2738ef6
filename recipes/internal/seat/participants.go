package seat

import (
	"context"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/order"
)

// Participant has the fields of locks.Participant. They are documented there.
type Participant struct {
	Path     string
	Position int
	Holder   bool
	Reader   bool
	Token    int64
	Session  int64
	Since    time.Time
	Data     []byte
}

// participantReads is the number of nodes that are read at once, if not with one
// request.
const participantReads = 32

// Participants returns the contenders in the order of the queue, and marks
// those that hold the lock. It leaves out a contender that leaves meanwhile: the
// next one holds the lock then.
func (l *Lock) Participants(ctx context.Context) ([]Participant, error) {
	return l.ParticipantsWhere(ctx, func(queue []order.Entry) []bool {
		return order.Holders(queue, l.cfg.Blocks)
	})
}

// ParticipantsWhere is Participants for a lock that knows its holders. If all have
// left before they were read, it lists the queue again: others may have come
// before that. So it does if a holder has changed its write node for a read node.
func (l *Lock) ParticipantsWhere(ctx context.Context, holdersOf func(queue []order.Entry) []bool) ([]Participant, error) {
	const op = "participants"
	vanished := pauses.Vanished()
	queue, err := l.Entries(ctx, op)
	for looks := 1; err == nil; looks++ {
		all, there, err := l.readAll(ctx, queue)
		complete := len(there) == len(queue) || len(there) > 0 && l.cfg.Readers == ""
		if err != nil || complete || looks == order.MostLooks {
			return marked(all, holdersOf(there)), err
		}
		now, err := l.Entries(ctx, op)
		if err != nil {
			return nil, err
		}
		if len(there) > 0 && !order.HasDowngraded(queue, now, l.cfg.Readers) {
			return marked(all, holdersOf(there)), nil
		}
		queue = now
		if err := follow.Pause(ctx, l.cfg.Client, &vanished); err != nil {
			return nil, l.ErrorOf(op, err)
		}
	}
	return nil, err
}

// marked gives participants their positions, and marks the holders.
func marked(all []Participant, holders []bool) []Participant {
	for i := range all {
		all[i].Position, all[i].Holder = i, holders[i]
	}
	return all
}

// readAll reads the contenders of a queue, and returns those that are there.
func (l *Lock) readAll(ctx context.Context, queue []order.Entry) (all []Participant, there []order.Entry, err error) {
	read, paths := make([]Participant, len(queue)), make([]string, len(queue))
	for i, e := range queue {
		paths[i] = znode.Join(l.cfg.Path, e.Node)
	}
	reads := follow.ReadsOf(l.cfg.Client, participantReads)
	reads.Size = order.OwnData
	err = reads.Each(ctx, paths, func(i int, node insider.NodeRead) error {
		switch {
		case node.Err == nil:
			read[i] = l.participant(queue[i], paths[i], node.Data, node.Stat)
		case !reason.Is(node.Err, zk.ErrNoNode):
			return node.Err
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for i, p := range read {
		if p.Path != "" {
			all, there = append(all, p), append(there, queue[i])
		}
	}
	return all, there, nil
}

// Entries returns the contenders below the path, in the order of admission. There are
// none if none has ever queued, or if the server has removed the empty path since
// (CURATOR-436). The operation is the call that the user made, for errors.
func (l *Lock) Entries(ctx context.Context, op string) ([]order.Entry, error) {
	if err := l.Usable(); err != nil {
		return nil, l.ErrorOf(op, err)
	}
	children, _, err := l.cfg.Client.Children(ctx, l.cfg.Path)
	if err != nil && !reason.Is(err, zk.ErrNoNode) {
		return nil, err
	}
	queue, err := l.readCzxids(ctx, slices.Collect(order.Entries(children, l.cfg.Kinds...)))
	slices.SortFunc(queue, order.Compare)
	return queue, err
}

// Read reads the node of an entry. The caller sets the position.
func (l *Lock) Read(ctx context.Context, e order.Entry) (Participant, error) {
	path := znode.Join(l.cfg.Path, e.Node)
	data, stat, err := l.cfg.Client.Get(ctx, path)
	if err != nil {
		return Participant{}, err
	}
	return l.participant(e, path, data, stat), nil
}

func (l *Lock) participant(e order.Entry, path string, data []byte, stat *zk.Stat) Participant {
	return Participant{
		Path:    path,
		Reader:  l.cfg.Readers != "" && e.Kind == l.cfg.Readers,
		Token:   stat.Czxid,
		Session: stat.EphemeralOwner,
		Since:   time.UnixMilli(stat.Ctime),
		Data:    order.Clip(data),
	}
}
