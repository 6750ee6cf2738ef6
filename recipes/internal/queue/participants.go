package queue

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/lockloop"
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
func (q *Queue) Participants(ctx context.Context) ([]Participant, error) {
	return q.ParticipantsWhere(ctx, func(queue []lockloop.Entry) []bool {
		return lockloop.Holders(queue, q.cfg.Order.Blocks)
	})
}

// ParticipantsWhere is Participants for a lock that knows its holders. If all have
// left before they were read, it lists the queue again: others may have come
// before that. So it does if a holder has changed its write node for a read node.
func (q *Queue) ParticipantsWhere(ctx context.Context, holdersOf func(queue []lockloop.Entry) []bool) ([]Participant, error) {
	const op = "participants"
	vanished := pauses.Vanished()
	queue, err := q.Entries(ctx, op)
	for looks := 1; err == nil; looks++ {
		all, there, err := q.readAll(ctx, queue)
		complete := len(there) == len(queue) || len(there) > 0 && q.cfg.Readers == ""
		if err != nil || complete || looks == lockloop.MostLooks {
			return marked(all, holdersOf(there)), err
		}
		now, err := q.Entries(ctx, op)
		if err != nil {
			return nil, err
		}
		if len(there) > 0 && !lockloop.HasDowngraded(queue, now, q.cfg.Readers) {
			return marked(all, holdersOf(there)), nil
		}
		queue = now
		if err := follow.Pause(ctx, q.cfg.Client, &vanished); err != nil {
			return nil, q.ErrorOf(op, err)
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
func (q *Queue) readAll(ctx context.Context, queue []lockloop.Entry) (all []Participant, there []lockloop.Entry, err error) {
	read, paths := make([]Participant, len(queue)), make([]string, len(queue))
	for i, e := range queue {
		paths[i] = znode.Join(q.cfg.Path, e.Node)
	}
	reads := follow.ReadsOf(q.cfg.Client, participantReads)
	reads.Size = lockloop.OwnData
	err = reads.Each(ctx, paths, func(i int, node insider.NodeRead) error {
		switch {
		case node.Err == nil:
			read[i] = q.participant(queue[i], paths[i], node.Data, node.Stat)
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

// Entries returns the queue. The operation is the call that the user made, for
// errors.
func (q *Queue) Entries(ctx context.Context, op string) ([]lockloop.Entry, error) {
	if err := q.Usable(); err != nil {
		return nil, q.ErrorOf(op, err)
	}
	return q.loop.Queue(ctx)
}

// Read reads the node of an entry. The caller sets the position.
func (q *Queue) Read(ctx context.Context, e lockloop.Entry) (Participant, error) {
	path := znode.Join(q.cfg.Path, e.Node)
	data, stat, err := q.cfg.Client.Get(ctx, path)
	if err != nil {
		return Participant{}, err
	}
	return q.participant(e, path, data, stat), nil
}

func (q *Queue) participant(e lockloop.Entry, path string, data []byte, stat *zk.Stat) Participant {
	return Participant{
		Path:    path,
		Reader:  q.cfg.Readers != "" && e.Kind == q.cfg.Readers,
		Token:   stat.Czxid,
		Session: stat.EphemeralOwner,
		Since:   time.UnixMilli(stat.Ctime),
		Data:    lockloop.Clip(data),
	}
}
