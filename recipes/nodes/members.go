package nodes

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/locks"
)

// Member is a member of a group, read from its node.
type Member struct {
	ID      string
	Path    string    // the path of its node
	Payload []byte    // shared: do not change it
	Session int64     // the id of its session; 0 for a node that is not ephemeral
	Czxid   int64     // the id of the transaction that created its node
	Mzxid   int64     // the id of the transaction that last changed the payload
	Since   time.Time // when its node was created, by the server's clock
	Self    bool      // the member has joined through this Group

	// Unreadable says that the client may not read the node, or that a server failed to
	// read it. Only ID and Path are set then.
	Unreadable bool
}

// Identity returns the identity of a member that joined without a payload. Any other
// payload is a foreign identity.
func (m Member) Identity() locks.Identity { return locks.ReadIdentity(m.Payload) }

// memberOf returns the member that a node describes.
func (g *Group) memberOf(path string, data []byte, stat *zk.Stat) Member {
	_, id := znode.Split(path)
	return Member{
		ID: id, Path: path, Payload: data, Session: stat.EphemeralOwner, Czxid: stat.Czxid, Mzxid: stat.Mzxid,
		Since: timeOf(stat.Ctime), Self: g.isOwn(id, stat.EphemeralOwner),
	}
}

func unreadable(path string) Member {
	_, id := znode.Split(path)
	return Member{ID: id, Path: path, Unreadable: true}
}

func byID(a, b Member) int { return strings.Compare(a.ID, b.ID) }

// memberReads is how many nodes are read concurrently if they cannot be read with one
// request.
const memberReads = 32

// Members returns the current members, ordered by their ids. A group that no client has
// ever joined is empty. A member that leaves during the call may be missing. A member
// whose session is lost, or whose Leave is not carried out yet, is listed until the
// servers delete its node.
//
// The list comes from the client's server, which may lag behind the others. It may then
// still list a member that has left. It may also miss a member that has joined at another
// server, even after Join has returned there. For a list that includes everything that
// was complete before the call, call Sync first, and make both calls inside
// framework.Client.InSession. The documentation of Sync names the remaining exceptions;
// SyncQuorum has none.
func (g *Group) Members(ctx context.Context) ([]Member, error) {
	members, err := g.members(ctx)
	return members, g.errorOf("members", err)
}

func (g *Group) members(ctx context.Context) ([]Member, error) {
	if err := g.usable(); err != nil {
		return nil, err
	}
	paths, _, err := g.client.Children(ctx, g.path)
	if reason.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for i, name := range paths {
		paths[i] = znode.Join(g.path, name)
	}
	all := make([]Member, len(paths))
	err = follow.ReadsOf(g.client, memberReads).Each(ctx, paths, func(i int, node insider.NodeRead) error {
		switch {
		case node.Err == nil:
			all[i] = g.memberOf(paths[i], node.Data, node.Stat)
		case reason.Is(node.Err, zk.ErrNoAuth):
			all[i] = unreadable(paths[i])
		case !reason.Is(node.Err, zk.ErrNoNode):
			return node.Err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(m Member) bool { return m.Path == "" }) // members that are gone
	slices.SortFunc(all, byID)
	return all, nil
}

// View is a group at one time, with the changes since the previous view.
type View struct {
	Members []Member // all of them, ordered by their ids

	// Joined, Updated and Left are the differences from the previous view. In the first
	// view, all members have joined. A member whose node was replaced has left and
	// joined. A member in Left has its last known payload.
	Joined, Updated, Left []Member
}

// Changes returns the group as it is now, and again after each change, until ctx ends.
// The first view comes at once, even if the group is empty. If the group changes several
// times while the caller is busy, one view has all the changes: a slow caller never
// misses the latest state and never blocks the client.
//
// Each view is the group as of one transaction. The loop has a cache.Cache of the group,
// with one watch at the server, and closes the cache when the loop ends. There is no new
// view during an outage, or while servers fail to list the group or refuse the client's
// credentials. If a server fails to read one member, the next view has that member as
// Unreadable. If the server refuses to list the group, for lack of rights for example, or
// if the client is closed, the loop ends with an error in the second value. The end of
// ctx is no error.
func (g *Group) Changes(ctx context.Context) iter.Seq2[View, error] {
	return func(yield func(View, error) bool) {
		all, last, told := map[string]Member{}, []Member(nil), false
		for step, err := range g.steps(ctx) {
			refusal := step.Unreadable[g.path]
			if err == nil && framework.IsRefusal(refusal) {
				err = refusal
			}
			if err != nil {
				yield(View{}, g.errorOf("changes", err))
				return
			}
			now := g.take(all, step)
			view := difference(last, now)
			isNews := !told || len(view.Joined)+len(view.Updated)+len(view.Left) > 0
			if !step.Synced || refusal != nil || !isNews { // without the list, the members are unknown
				continue
			}
			told, last = true, now
			if ctx.Err() != nil || !yield(view, nil) {
				return
			}
		}
	}
}

// steps returns the steps of a cache of the group. The cache is closed when the loop
// ends.
func (g *Group) steps(ctx context.Context) iter.Seq2[cache.Step, error] {
	return func(yield func(cache.Step, error) bool) {
		err := g.usable()
		var copied *cache.Cache
		if err == nil {
			copied, err = cache.New(g.client, g.path, cache.WithDepth(1))
		}
		if err != nil {
			yield(cache.Step{}, err)
			return
		}
		defer copied.Close()
		copied.Steps(ctx)(yield)
	}
}

// take applies a step's changes, and returns all members after it. Members that cannot be
// read are not among the nodes.
func (g *Group) take(all map[string]Member, step cache.Step) []Member {
	for _, ch := range step.Changes {
		switch {
		case ch.Type == cache.Deleted:
			delete(all, ch.Old.Path)
		case ch.New.Path != g.path:
			all[ch.New.Path] = g.memberOf(ch.New.Path, ch.New.Data, &ch.New.Stat)
		}
	}
	now := slices.Collect(maps.Values(all))
	for path := range step.Unreadable {
		if path != g.path {
			now = append(now, unreadable(path))
		}
	}
	slices.SortFunc(now, byID)
	return now
}

// difference returns the view of the members now, given the members before. Both are
// ordered by ids.
func difference(before, now []Member) View {
	v := View{Members: slices.Clone(now)}
	for len(before) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(before) > 0 && before[0].ID < now[0].ID:
			v.Left, before = append(v.Left, before[0]), before[1:]
		case len(before) == 0 || now[0].ID < before[0].ID:
			v.Joined, now = append(v.Joined, now[0]), now[1:]
		default:
			v.compare(before[0], now[0])
			before, now = before[1:], now[1:]
		}
	}
	return v
}

// compare records the changes of a member that is in both views.
func (v *View) compare(before, now Member) {
	switch {
	case before.Czxid != now.Czxid && before.Czxid != 0 && now.Czxid != 0:
		v.Left, v.Joined = append(v.Left, before), append(v.Joined, now)
	case before.Mzxid != now.Mzxid, before.Unreadable != now.Unreadable:
		v.Updated = append(v.Updated, now)
	}
}
