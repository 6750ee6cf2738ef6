package lockloop

import (
	"context"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// Queue returns the contenders below the path, in the order of admission. There
// are none if none has ever queued, or if the server has removed the empty path
// since (CURATOR-436).
func (l *Loop) Queue(ctx context.Context) ([]Entry, error) {
	children, _, err := l.nodes.Client.Children(ctx, l.nodes.Path)
	if err != nil && !reason.Is(err, zk.ErrNoNode) {
		return nil, err
	}
	queue := slices.Collect(Entries(children, l.nodes.Kinds...))
	queue, err = readCzxids(ctx, l.nodes.Client, l.nodes.Path, queue)
	slices.SortFunc(queue, compare)
	return queue, err
}

// czxidReads is the number of nodes that are read at once.
const czxidReads = 32

// readCzxids asks the server for the czxids of overflowed contenders, and
// leaves out those that have gone. Usually there are none, and it sends no
// request.
func readCzxids(ctx context.Context, c *framework.Client, parent string, all []Entry) ([]Entry, error) {
	var unknown []*Entry
	for i := range all {
		if all[i].lacksCzxid() {
			unknown = append(unknown, &all[i])
		}
	}
	err := make(follow.Slots, czxidReads).Each(len(unknown), func(i int) error {
		there, stat, err := c.Exists(ctx, znode.Join(parent, unknown[i].Node))
		if there {
			unknown[i].Czxid = stat.Czxid
		}
		return err
	})
	return slices.DeleteFunc(all, Entry.lacksCzxid), err
}

func (e Entry) lacksCzxid() bool { return e.overflowed() && e.Czxid == 0 }
