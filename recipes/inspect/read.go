package inspect

import (
	"cmp"
	"context"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/recipes/locks"
)

// reader sends the requests of a walk, a bounded number of them at once.
type reader struct {
	ctx     context.Context
	client  *framework.Client
	slots   chan struct{} // one element for each request under way
	readers follow.Slots  // for goroutines that read one node; they wait for slots, and for nothing else
}

func newReader(ctx context.Context, c *framework.Client, requests int) reader {
	return reader{ctx: ctx, client: c, slots: make(chan struct{}, requests), readers: make(follow.Slots, requests)}
}

// begin waits until a request may be sent. The function end must be called
// after it.
func (r *reader) begin() error {
	select {
	case r.slots <- struct{}{}:
		return nil
	case <-r.ctx.Done():
		return reason.OfContext(r.ctx)
	}
}

func (r *reader) end() { <-r.slots }

// children lists a node.
func (r *reader) children(path string) ([]string, *zk.Stat, error) {
	if err := r.begin(); err != nil {
		return nil, nil, err
	}
	defer r.end()
	return r.client.Children(r.ctx, path)
}

// stat returns nil if there is no node. Since ZooKeeper 3.9, it needs the right
// to read the node. Older servers ask for none.
func (r *reader) stat(path string) (*zk.Stat, error) {
	if err := r.begin(); err != nil {
		return nil, err
	}
	defer r.end()
	there, stat, err := r.client.Exists(r.ctx, path)
	if err != nil || !there {
		return nil, err
	}
	return stat, nil
}

func (r *reader) data(ctx context.Context, path string) ([]byte, *zk.Stat, error) {
	if err := r.begin(); err != nil {
		return nil, nil, err
	}
	defer r.end()
	return r.client.Get(ctx, path)
}

// several reads the data of nodes with one request.
func (r *reader) several(ctx context.Context, paths ...string) ([]insider.NodeRead, int64, error) {
	if err := r.begin(); err != nil {
		return nil, 0, err
	}
	defer r.end()
	return insider.Of(r.client).MultiRead(ctx, paths...)
}

// sighting is a node that was read.
type sighting struct {
	Participant
	entry  lockloop.Entry // set for a contender
	parent bool           // it has children
}

// registration reads a node that is no contender. It returns nil if the node is
// gone.
func (r *reader) registration(path string) (*sighting, error) {
	data, stat, err := r.data(r.ctx, path)
	seen, err := r.seen(path, insider.NodeRead{Data: data, Stat: stat, Err: err})
	if seen == nil {
		return nil, err
	}
	if i := instanceOf(path, data); i != nil {
		seen.Instance = i
		if at := i.HostPort(); at != "" && printable.Is(at) { // anybody may have written it
			seen.ID = at
		}
	}
	return seen, err
}

// seen returns what there is to know of a node that was read, or nil if the node
// is gone.
func (r *reader) seen(path string, node insider.NodeRead) (*sighting, error) {
	stat, err := node.Stat, node.Err
	forbidden := reason.Is(err, zk.ErrNoAuth)
	if forbidden {
		stat, err = r.stat(path)
	}
	if reason.Is(err, zk.ErrNoAuth) { // only the name is known
		p := Participant{Path: path, Unreadable: true, ID: locks.Identity{}.String()}
		return &sighting{Participant: p}, nil
	}
	if reason.Is(err, zk.ErrNoNode) || err == nil && stat == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p := participantOf(path, node.Data, stat)
	p.Unreadable = forbidden
	return &sighting{Participant: p, parent: stat.NumChildren > 0}, nil
}

// participants reads the contenders below a node, and leaves out those that are
// gone. They are in the order of admission. It reads no more than most of them.
// The others are only counted.
func (r *reader) participants(parent string, queue []lockloop.Entry, most int) (all []sighting, unread int, err error) {
	inOrder := lockloop.Sort(queue)
	for len(queue) > 0 && len(all) < most { // again if some have gone
		n := len(queue)
		if inOrder {
			n = min(n, most-len(all))
		}
		next, err := r.contenders(parent, queue[:n])
		if err != nil {
			return nil, 0, err
		}
		all, queue = append(all, next...), queue[n:]
	}
	slices.SortStableFunc(all, func(a, b sighting) int { return lockloop.Compare(a.entry, b.entry) })
	if len(all) > most {
		all, unread = all[:most], len(all)-most
	}
	return all, unread + len(queue), nil
}

// contenders reads all of these, and leaves out those that are gone.
func (r *reader) contenders(parent string, queue []lockloop.Entry) ([]sighting, error) {
	names := make([]string, len(queue))
	for i, e := range queue {
		names[i] = e.Node
	}
	return r.readAll(paths(parent, names), func(i int, seen *sighting) {
		seen.entry = queue[i]
		seen.entry.Czxid = seen.Czxid
	})
}

// byCreation reads children whose names have no order, such as leases. They are
// in the order of their creation.
func (r *reader) byCreation(parent string, names []string) ([]sighting, error) {
	all, err := r.readAll(paths(parent, names), func(int, *sighting) {})
	slices.SortFunc(all, func(a, b sighting) int { return cmp.Compare(a.Czxid, b.Czxid) })
	return all, err
}

// readAll reads nodes, and leaves out those that are gone. It calls add for each
// of the others. After an error it starts no more reads.
func (r *reader) readAll(paths []string, add func(i int, seen *sighting)) (all []sighting, err error) {
	found := make([]*sighting, len(paths))
	reads := follow.Reads{Slots: r.readers, One: r.data, Several: r.several, Size: lockloop.OwnData}
	err = reads.Each(r.ctx, paths, func(i int, node insider.NodeRead) error {
		seen, err := r.seen(paths[i], node)
		if seen != nil {
			add(i, seen)
		}
		found[i] = seen
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, seen := range found {
		if seen != nil {
			all = append(all, *seen)
		}
	}
	return all, nil
}
