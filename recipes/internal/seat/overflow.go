package seat

import (
	"context"
	"slices"

	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/order"
)

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
