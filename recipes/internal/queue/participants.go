package queue

import (
	"context"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
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
// those that hold the lock. It leaves out a contender that leaves meanwhile, so
// the positions may have a gap.
func (q *Queue) Participants(ctx context.Context) ([]Participant, error) {
	return q.ParticipantsWhere(ctx, func(queue []lockloop.Entry) []bool {
		return lockloop.Holders(queue, q.cfg.Order.Blocks)
	})
}

// ParticipantsWhere is Participants for a lock that knows its holders.
func (q *Queue) ParticipantsWhere(ctx context.Context, holdersOf func(queue []lockloop.Entry) []bool) ([]Participant, error) {
	queue, err := q.Entries(ctx, "participants")
	if err != nil {
		return nil, err
	}
	holders := holdersOf(queue)
	all, paths := make([]Participant, len(queue)), make([]string, len(queue))
	for i, e := range queue {
		paths[i] = znode.Join(q.cfg.Path, e.Node)
	}
	reads := follow.ReadsOf(q.cfg.Client, participantReads)
	reads.Size = lockloop.OwnData
	err = reads.Each(ctx, paths, func(i int, node framework.NodeRead) error {
		switch {
		case node.Err == nil:
			all[i] = q.participant(queue[i], paths[i], node.Data, node.Stat)
			all[i].Position, all[i].Holder = i, holders[i]
		case !reason.Is(node.Err, zk.ErrNoNode):
			return node.Err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(p Participant) bool { return p.Path == "" }), nil
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
