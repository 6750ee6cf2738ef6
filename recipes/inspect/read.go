package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/order"
	"github.com/gocurator/curator/recipes/locks"
)

// mostRequests is how many requests of a walk are under way at the same time. A
// connection carries 768 requests for all users of the client.
const mostRequests = 32

// reader sends the requests of a walk, at most mostRequests at the same time.
type reader struct {
	ctx     context.Context
	client  *framework.Client
	slots   follow.Slots // one element for each request under way
	readers follow.Slots // for goroutines that read one node; they wait only for slots
	tooOld  atomic.Bool  // the server lacks multiRead
}

// errTooOld is the error of a walk on a server without multiRead.
var errTooOld = fmt.Errorf("inspect needs ZooKeeper 3.6 or later: %w", framework.ErrUnimplemented)

// request waits for a slot and makes a request.
func (r *reader) request(send func() error) error {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
		return send()
	case <-r.ctx.Done():
		return reason.OfContext(r.ctx)
	}
}

// children lists a node.
func (r *reader) children(path string) (names []string, stat *zk.Stat, err error) {
	err = r.request(func() (err error) {
		names, stat, err = r.client.Children(r.ctx, path)
		return err
	})
	return names, stat, err
}

// stat returns zk.ErrNoNode if there is no node. Since ZooKeeper 3.9, stat needs the
// right to read the node. Older servers require no right.
func (r *reader) stat(path string) (stat *zk.Stat, err error) {
	err = r.request(func() error {
		there, s, err := r.client.Exists(r.ctx, path)
		if err == nil && !there {
			return &framework.OpError{Op: "exists", Path: path, Err: zk.ErrNoNode}
		}
		stat = s
		return err
	})
	return stat, err
}

func (r *reader) data(ctx context.Context, path string) (data []byte, stat *zk.Stat, err error) {
	if r.tooOld.Load() { // otherwise the nodes of a long queue would be read one by one
		return nil, nil, errTooOld
	}
	err = r.request(func() (err error) {
		data, stat, err = r.client.Get(ctx, path)
		return err
	})
	return data, stat, err
}

// several reads the data of nodes with one request.
func (r *reader) several(ctx context.Context, paths ...string) (nodes []insider.NodeRead, zxid int64, err error) {
	err = r.request(func() (err error) {
		nodes, zxid, err = insider.Of(r.client).MultiRead(ctx, paths...)
		return err
	})
	if reason.Is(err, framework.ErrUnimplemented) {
		r.tooOld.Store(true)
	}
	return nodes, zxid, err
}

// dataIfAny returns nil if a node is gone or may not be read.
func (r *reader) dataIfAny(path string) ([]byte, error) {
	data, _, err := r.data(r.ctx, path)
	if isAbsent(err) {
		return nil, nil
	}
	return data, err
}

// isAbsent reports whether a node is gone, or may not be read.
func isAbsent(err error) bool { return reason.Is(err, zk.ErrNoNode) || reason.Is(err, zk.ErrNoAuth) }

// listed is a node with its listed children. It has no children if the node is gone or
// hidden.
type listed struct {
	contents
	changed int64 // the newest transaction that made or deleted a child; 0 if nothing was listed
	hidden  bool  // the node may not be listed
}

// list lists a node that is part of a recipe.
func (r *reader) list(path string) (l listed, err error) {
	names, stat, err := r.children(path)
	switch {
	case reason.Is(err, zk.ErrNoNode):
		return listed{}, nil
	case reason.Is(err, zk.ErrNoAuth):
		return listed{hidden: true}, nil
	case err != nil:
		return listed{}, err
	}
	return listed{contents: sortOut(names), changed: stat.Pzxid}, nil
}

// sighting is a node that was read.
type sighting struct {
	Participant
	data   []byte
	parent bool        // it has children
	entry  order.Entry // set for a contender
}

// sightingOf returns the sighting of a node that was read, or nil if the node is gone.
func (r *reader) sightingOf(path string, node insider.NodeRead) (*sighting, error) {
	stat, err := node.Stat, node.Err
	forbidden := reason.Is(err, zk.ErrNoAuth)
	if forbidden {
		stat, err = r.stat(path)
	}
	switch {
	case reason.Is(err, zk.ErrNoAuth): // only the name is known
		return &sighting{Participant: Participant{Path: path, Unreadable: true, ID: locks.Identity{}.String()}}, nil
	case reason.Is(err, zk.ErrNoNode):
		return nil, nil
	case err != nil:
		return nil, err
	}
	p := participantOf(path, node.Data, stat)
	p.Unreadable = forbidden
	return &sighting{Participant: p, data: node.Data, parent: stat.NumChildren > 0}, nil
}

// one reads a node, and returns nil if the node is gone.
func (r *reader) one(path string) (*sighting, error) {
	data, stat, err := r.data(r.ctx, path)
	return r.sightingOf(path, insider.NodeRead{Data: data, Stat: stat, Err: err})
}

// contenders reads the first n contenders in the order of admission, or all if the
// order depends on czxids that are not known. It returns the contenders that still
// exist, and the entries of all nodes that it has asked for.
func (r *reader) contenders(
	parent string, queue []order.Entry, n int,
) (all []sighting, asked []order.Entry, err error) {
	if asked = slices.Clone(queue); order.Sort(asked) {
		asked = asked[:min(n, len(asked))]
	}
	names := make([]string, len(asked))
	for i, e := range asked {
		names[i] = e.Node
	}
	all, err = r.readAll(parent, names, func(i int, seen *sighting) {
		seen.entry = asked[i]
		seen.entry.Czxid = seen.Czxid
	})
	slices.SortStableFunc(all, func(a, b sighting) int { return order.Compare(a.entry, b.entry) })
	return all, asked, err
}

// byCreation reads children whose names have no order, such as leases, and returns them
// in the order of their creation.
func (r *reader) byCreation(parent string, names []string) ([]sighting, error) {
	all, err := r.readAll(parent, names, func(int, *sighting) {})
	slices.SortFunc(all, func(a, b sighting) int { return cmp.Compare(a.Czxid, b.Czxid) })
	return all, err
}

// readAll reads children of a node, and calls add for each child that still exists.
// After an error it starts no more reads.
func (r *reader) readAll(parent string, names []string, add func(i int, seen *sighting)) (all []sighting, err error) {
	paths, found := below(parent, names), make([]*sighting, len(names))
	reads := follow.Reads{Slots: r.readers, One: r.data, Several: r.several, Size: order.OwnData}
	err = reads.Each(r.ctx, paths, func(i int, node insider.NodeRead) (err error) {
		if found[i], err = r.sightingOf(paths[i], node); found[i] != nil {
			add(i, found[i])
		}
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

// below joins a parent and the names of children.
func below(parent string, names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = znode.Join(parent, name)
	}
	return all
}
