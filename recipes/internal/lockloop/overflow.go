package lockloop

import (
	"context"
	"slices"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
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
	errs := make([]error, len(all))
	gone := make([]bool, len(all))
	var reads sync.WaitGroup
	slots := make(chan struct{}, czxidReads)
	for i := range all {
		if !all[i].overflowed() || all[i].Czxid != 0 {
			continue
		}
		slots <- struct{}{}
		reads.Go(func() {
			defer func() { <-slots }()
			exists, stat, err := c.Exists(ctx, znode.Join(parent, all[i].Node))
			gone[i], errs[i] = err == nil && !exists, err
			if exists {
				all[i].Czxid = stat.Czxid
			}
		})
	}
	reads.Wait()
	left := all[:0]
	for i, contender := range all {
		if !gone[i] {
			left = append(left, contender)
		}
	}
	return left, firstOf(errs)
}

func firstOf(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
