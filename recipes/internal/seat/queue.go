package seat

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/order"
)

// Participant has the fields of locks.Participant, which documents them.
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

// readsAtOnce is how many nodes are read concurrently if they cannot be read with one
// request.
const readsAtOnce = 32

// Participants returns the contenders in the order of the queue, and marks the holders. A
// contender that leaves during the call is left out, and the next contender counts as the
// holder.
func (l *Lock) Participants(ctx context.Context) ([]Participant, error) {
	return l.ParticipantsWhere(ctx, func(queue []order.Entry) []bool {
		return order.Holders(queue, l.cfg.Blocks)
	})
}

// ParticipantsWhere is Participants with a function that finds the holders. If all
// contenders have left before they were read, ParticipantsWhere lists the queue again,
// because new contenders may have arrived meanwhile. For a read/write lock it does so
// even if only some have left: a holder may have replaced its write node by a read node.
func (l *Lock) ParticipantsWhere(
	ctx context.Context, holdersOf func(queue []order.Entry) []bool,
) ([]Participant, error) {
	const op = "participants"
	vanished := pauses.Vanished()
	for looks := 1; ; looks++ {
		queue, err := l.Entries(ctx, op)
		if err != nil {
			return nil, err
		}
		all, there, err := l.readAll(ctx, queue)
		complete := len(there) == len(queue) || len(there) > 0 && l.cfg.Readers == ""
		if err != nil || complete || looks == order.MostLooks {
			for i, holds := range holdersOf(there) {
				all[i].Position, all[i].Holder = i, holds
			}
			return all, err
		}
		if err := follow.Pause(ctx, l.cfg.Client, &vanished); err != nil {
			return nil, l.ErrorOf(op, err)
		}
	}
}

// readAll reads the contenders of a queue, and returns those that still exist.
func (l *Lock) readAll(ctx context.Context, queue []order.Entry) (all []Participant, there []order.Entry, err error) {
	read, paths := make([]Participant, len(queue)), make([]string, len(queue))
	for i, e := range queue {
		paths[i] = znode.Join(l.cfg.Path, e.Node)
	}
	reads := follow.ReadsOf(l.cfg.Client, readsAtOnce)
	reads.Size = order.OwnData
	err = reads.Each(ctx, paths, func(i int, node insider.NodeRead) error {
		if node.Err == nil {
			read[i] = l.participant(queue[i], paths[i], node.Data, node.Stat)
		} else if !reason.Is(node.Err, zk.ErrNoNode) {
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

// Entries returns the contenders below the path, in the order of admission. There are no
// entries if no contender has ever queued, or if the server has removed the empty path
// since (CURATOR-436). The argument op is the user's call, for errors.
func (l *Lock) Entries(ctx context.Context, op string) ([]order.Entry, error) {
	if err := l.Usable(); err != nil {
		return nil, l.ErrorOf(op, err)
	}
	children, _, err := l.cfg.Client.Children(ctx, l.cfg.Path)
	if err != nil && !reason.Is(err, zk.ErrNoNode) {
		return nil, err
	}
	queue, err := l.readCzxids(ctx, slices.Collect(order.InListing(children, l.cfg.Kinds...).Each))
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

// excluding returns the kinds of nodes that exclude this lock's node.
func (l *Lock) excluding() []string {
	if !l.isShared() {
		return l.cfg.Kinds
	}
	return slices.DeleteFunc(slices.Clone(l.cfg.Kinds), func(kind string) bool { return kind == l.cfg.Readers })
}

// resolve returns the entries among the children in a form that can be compared with
// ours. If the number in ours has not overflowed, all overflowed entries come after it,
// and their order does not matter.
func (l *Lock) resolve(ctx context.Context, ours order.Entry, children []string) (order.Contenders, error) {
	all := order.InListing(children, l.cfg.Kinds...)
	if !ours.Overflowed() {
		return all, nil
	}
	read, err := l.readCzxids(ctx, slices.Collect(all.Each))
	if err == nil && ours.Node != "" && !slices.Contains(read, ours) {
		err = errStale // the node was deleted after the listing
	}
	return order.InQueue(read), err
}

// readCzxids reads the czxids of overflowed contenders, and leaves out contenders that
// are gone. Usually there are none, and it sends no request.
func (l *Lock) readCzxids(ctx context.Context, all []order.Entry) ([]order.Entry, error) {
	var unknown []*order.Entry
	for i := range all {
		if all[i].LacksCzxid() {
			unknown = append(unknown, &all[i])
		}
	}
	err := make(follow.Slots, readsAtOnce).Each(len(unknown), func(i int) error {
		there, stat, err := l.cfg.Client.Exists(ctx, znode.Join(l.cfg.Path, unknown[i].Node))
		if there {
			unknown[i].Czxid = stat.Czxid
		}
		return err
	})
	return slices.DeleteFunc(all, order.Entry.LacksCzxid), err
}

// allKinds are the kinds of the contenders of all recipes.
var allKinds = []string{"lock-", "latch-", "__READ__", "__WRIT__", "lease-", "__lock__"}

var eventTwoRecipes = event.Kind{Warn: semconv.TwoRecipes}

// warnOfOthers warns once of contenders of another recipe at the lock's path. The recipes
// ignore each other, so both would hold the lock or lead. An update that moves from one
// recipe to another can cause this. A semaphore's nodes are one level further down, so
// only a semaphore lists them.
func (l *Lock) warnOfOthers(names []string) {
	of := &l.cfg
	for _, name := range names {
		if order.IsNode(name, of.Kinds...) { // usually all names are of this recipe
			continue
		}
		if order.IsNode(name, allKinds...) && l.warned.CompareAndSwap(false, true) {
			event.OfLock(of.Client, of.Path).Emit(eventTwoRecipes, nil,
				slog.String(semconv.LockRecipe, of.Recipe), event.Of(of.Client, znode.Join(of.Path, name)).Path())
		}
	}
}
