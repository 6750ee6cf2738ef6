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

// Member is a member of a group, as its node says.
type Member struct {
	ID      string
	Path    string    // its node's
	Payload []byte    // shared: do not change it
	Session int64     // the id of its session; 0 for a node that is not ephemeral
	Czxid   int64     // the id of the transaction that created its node
	Mzxid   int64     // the id of the transaction that last changed the payload
	Since   time.Time // the time of its node's creation, by the server's clock
	Self    bool      // the member has joined through this Group

	// Unreadable says that the client may not read the node, or that a server has
	// failed to read it. The member then has nothing but the ID and the Path.
	Unreadable bool
}

// Identity returns who the member is, if it has joined without a payload. Any
// other payload is a foreign identity.
func (m Member) Identity() locks.Identity { return locks.ReadIdentity(m.Payload) }

// memberOf returns the member of a node that was read.
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

// memberReads is the number of nodes that are read at once, if not with one
// request.
const memberReads = 32

// Members returns the members now, ordered by their ids. A group that no client
// has ever joined has none. A member that leaves meanwhile may be left out. A member
// whose session is lost, or whose Leave is not carried out yet, is listed until the
// servers delete its node.
//
// The members are those that the client's server knows. A server that lags behind
// the others still lists a member that has left, and does not list one yet that has
// joined at another server, also if its Join has returned. For a list that has all
// that was complete before the call, call Sync first, both inside
// framework.Client.InSession; Sync says which exceptions remain, and SyncQuorum has
// none.
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
	all = slices.DeleteFunc(all, func(m Member) bool { return m.Path == "" }) // those that are gone
	slices.SortFunc(all, byID)
	return all, nil
}

// View is a group at one time, and what has changed since the view before.
type View struct {
	Members []Member // all of them, ordered by their ids

	// Joined, Updated and Left are the differences to the view before. In the
	// first view, all members have joined. A member whose node was replaced
	// has left and joined; of one that has left, the last payload is told.
	Joined, Updated, Left []Member
}

// Changes returns the group as it is now, and then each time that it has
// changed, until ctx ends. The first view comes at once, also if the group is
// empty. If several changes come while the caller is busy, one view has them
// all: a slow caller misses no last state, and holds up nothing.
//
// Each view is the group as of one transaction. The loop has a cache.Cache of the
// group, with one watch at the server, and closes the cache when it ends. There is no
// new view during an outage, nor while servers fail to list the group or refuse the
// client's credentials. If a server fails to read one member, the next view has that
// member as Unreadable. If the server refuses to list the group, for lack of rights for
// example, or if the client is closed, the loop ends with an error in the second value.
// The end of ctx is no error.
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
			if !step.Synced || refusal != nil || !isNews { // without the list, nothing is known
				continue
			}
			told, last = true, now
			if ctx.Err() != nil || !yield(view, nil) {
				return
			}
		}
	}
}

// steps returns the steps of a cache of the group, which ends with the loop.
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

// take takes what a step has changed, and returns all members after it. Those that
// cannot be read are not among the nodes.
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

// difference returns the view of now, after one with the members before. Both
// are ordered by ids.
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

// compare notes what has become of a member that is in both views.
func (v *View) compare(before, now Member) {
	switch {
	case before.Czxid != now.Czxid && before.Czxid != 0 && now.Czxid != 0:
		v.Left, v.Joined = append(v.Left, before), append(v.Joined, now)
	case before.Mzxid != now.Mzxid, before.Unreadable != now.Unreadable:
		v.Updated = append(v.Updated, now)
	}
}
