package nodes

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/locks"
)

// Member is a member of a group, as its node says.
type Member struct {
	ID      string
	Path    string // its node's
	Payload []byte
	Session int64     // the id of its session; 0 for a node that is not ephemeral
	Czxid   int64     // the id of the transaction that created its node
	Mzxid   int64     // the id of the transaction that last changed the payload
	Since   time.Time // the time of its node's creation, by the server's clock
	Self    bool      // it has joined through this Group

	// Unreadable says that the client may not read the node, so that there is
	// no payload. Servers that do not even tell of such a node leave out all
	// but the ID and the Path.
	Unreadable bool
}

// Identity returns who the member is, if it has joined without a payload. Any
// other payload is a foreign identity.
func (m Member) Identity() locks.Identity { return locks.ReadIdentity(m.Payload) }

// Members returns the members now, ordered by their ids. A group that nobody
// has ever joined has none. A member that leaves meanwhile may be left out.
//
// A member that has joined through this Group is listed only while its node
// exists in the present session, and until it leaves. A node of a former
// session, which the server is about to delete, is not listed, and neither is
// one that a Leave has given up on before it was deleted.
//
// The members are those that the client's server knows. A server that lags behind
// the others still lists a member that has left, and does not list one yet that has
// joined at another server, also if its Join has returned. For a list that has all
// that was complete before the call, call Sync first, both inside
// framework.Client.InSession; Sync says which exceptions remain, and SyncQuorum has
// none.
func (g *Group) Members(ctx context.Context) ([]Member, error) {
	if err := g.usable(); err != nil {
		return nil, g.errorOf("members", err)
	}
	var members []Member
	err := g.client.InSession(ctx, func(ctx context.Context) error {
		s, err := g.client.Session(ctx)
		if err != nil {
			return err
		}
		names, _, err := g.client.Children(ctx, g.path)
		if reason.Is(err, zk.ErrNoNode) {
			return nil
		}
		if err != nil {
			return err
		}
		read, err := g.read(ctx, s, names)
		members = listed(read)
		return err
	})
	if err != nil {
		return nil, g.errorOf("members", err)
	}
	return members, nil
}

// sighting is what was read of a node.
type sighting struct {
	Member
	hidden bool            // it is ours, and counts no more
	self   *PersistentNode // ours, if it counts
	watch  *framework.Watch
	forget []func() bool // what was to be called; see whenOld
}

// hasLeft reports whether it was oneself, and has left since it was read.
func (s sighting) hasLeft() bool { return s.self != nil && s.self.life.Err() != nil }

// isOld reports whether to read the node again. Nothing ever tells of a node
// without a watch.
func (s sighting) isOld() bool { return s.watch == nil || isClosed(s.watch.Done()) }

// whenOld has f called when the node has changed, or it was oneself, and has
// left.
func (s *sighting) whenOld(f func()) {
	if s.watch != nil {
		s.forget = append(s.forget, s.watch.AfterFunc(f))
	}
	if s.self != nil {
		s.forget = append(s.forget, context.AfterFunc(s.self.life.Over(), f))
	}
}

// memberReads is the number of nodes that are read at once, if not with one
// request.
const memberReads = 32

// read reads the nodes with these names, and leaves out those that are gone.
func (g *Group) read(ctx context.Context, s *framework.Session, names []string) ([]sighting, error) {
	all, paths := make([]sighting, len(names)), make([]string, len(names))
	for i, name := range names {
		paths[i] = znode.Join(g.path, name)
	}
	err := follow.ReadsOf(g.client, memberReads).Each(ctx, paths, func(i int, node insider.NodeRead) (err error) {
		unreadable := reason.Is(node.Err, zk.ErrNoAuth)
		if unreadable {
			node.Stat, _, node.Err = g.statOf(ctx, paths[i], false)
		}
		if node.Err == nil {
			all[i] = g.seen(s, names[i], node.Data, node.Stat, unreadable)
		}
		return unlessGone(node.Err)
	})
	return present(all), err
}

// readWatched is read with a watch for each node. If it fails, it leaves none
// behind.
func (g *Group) readWatched(ctx context.Context, s *framework.Session, names []string) ([]sighting, error) {
	all := make([]sighting, len(names))
	err := make(follow.Slots, memberReads).Each(len(names), func(i int) error {
		path := znode.Join(g.path, names[i])
		data, stat, watch, err := g.client.GetW(ctx, path)
		unreadable := reason.Is(err, zk.ErrNoAuth)
		if unreadable {
			stat, watch, err = g.statOf(ctx, path, true)
		}
		if err == nil {
			all[i] = g.seen(s, names[i], data, stat, unreadable)
			all[i].watch = watch
		}
		return unlessGone(err)
	})
	if err != nil {
		for _, seen := range all {
			seen.stop()
		}
		return nil, err
	}
	return present(all), nil
}

func unlessGone(err error) error {
	if reason.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// present leaves out the nodes that are gone.
func present(all []sighting) []sighting {
	return slices.DeleteFunc(all, func(s sighting) bool { return s.Path == "" })
}

// seen returns what was read of a node. Of one that may not be read, there may be
// no Stat.
func (g *Group) seen(s *framework.Session, name string, data []byte, stat *zk.Stat, unreadable bool) (seen sighting) {
	seen.Member = Member{ID: name, Path: znode.Join(g.path, name), Payload: data, Unreadable: unreadable}
	if stat == nil {
		return seen
	}
	seen.Session, seen.Czxid, seen.Mzxid, seen.Since = stat.EphemeralOwner, stat.Czxid, stat.Mzxid, timeOf(stat.Ctime)
	seen.self, seen.hidden = g.whose(name, stat.EphemeralOwner, s.ID())
	seen.Self = seen.self != nil
	return seen
}

// statOf returns what the server tells of a node that may not be read: its Stat,
// or nil and no watch.
func (g *Group) statOf(ctx context.Context, path string, watched bool) (stat *zk.Stat, watch *framework.Watch, err error) {
	there := false
	if watched {
		there, stat, watch, err = g.client.ExistsW(ctx, path)
	} else {
		there, stat, err = g.client.Exists(ctx, path)
	}
	switch {
	case reason.Is(err, zk.ErrNoAuth):
		return nil, nil, nil
	case err == nil && !there:
		if watch != nil {
			watch.Stop()
		}
		return nil, nil, zk.ErrNoNode
	}
	return stat, watch, err
}

func (s sighting) stop() {
	for _, forget := range s.forget {
		forget()
	}
	if s.watch != nil {
		s.watch.Stop()
	}
}

// listed returns the members among the nodes, ordered by their ids.
func listed(all []sighting) (members []Member) {
	for _, seen := range all {
		if !seen.hidden {
			members = append(members, seen.Member)
		}
	}
	slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.ID, b.ID) })
	return members
}
