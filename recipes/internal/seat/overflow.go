package seat

import (
	"context"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/order"
)

// queue returns the contenders below the path, in the order of admission. There
// are none if none has ever queued, or if the server has removed the empty path
// since (CURATOR-436).
func (l *Lock) queue(ctx context.Context) ([]order.Entry, error) {
	children, _, err := l.cfg.Client.Children(ctx, l.cfg.Path)
	if err != nil && !reason.Is(err, zk.ErrNoNode) {
		return nil, err
	}
	queue := slices.Collect(order.Entries(children, l.cfg.Kinds...))
	queue, err = l.readCzxids(ctx, queue)
	slices.SortFunc(queue, order.Compare)
	return queue, err
}

// czxidReads is the number of nodes that are read at once.
const czxidReads = 32

// readCzxids asks the server for the czxids of overflowed contenders, and
// leaves out those that have gone. Usually there are none, and it sends no
// request.
func (l *Lock) readCzxids(ctx context.Context, all []order.Entry) ([]order.Entry, error) {
	var unknown []*order.Entry
	for i := range all {
		if all[i].LacksCzxid() {
			unknown = append(unknown, &all[i])
		}
	}
	err := make(follow.Slots, czxidReads).Each(len(unknown), func(i int) error {
		there, stat, err := l.cfg.Client.Exists(ctx, znode.Join(l.cfg.Path, unknown[i].Node))
		if there {
			unknown[i].Czxid = stat.Czxid
		}
		return err
	})
	return slices.DeleteFunc(all, order.Entry.LacksCzxid), err
}
