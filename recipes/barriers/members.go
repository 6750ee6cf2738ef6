package barriers

import (
	"context"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/locks"
)

// Member is a member of a DoubleBarrier, as its node says.
type Member struct {
	Name    string         // its node's
	By      locks.Identity // anybody may have written it; zero when it leaves
	Since   time.Time      // the server's time when the node was created
	Session int64          // the id of its session
	Inside  bool           // it has entered; in Curator's layout, if the barrier is open
	Leaving bool           // it has called Leave, and others have not; not in Curator's layout
}

// Members returns the members that are there now, those that wait and those
// that are inside, ordered by their names. It has seen every Enter and Leave
// that was complete before the call, as Barrier.Wait has. A member that leaves
// meanwhile may be left out. Members goes on through outages until ctx ends.
func (b *DoubleBarrier) Members(ctx context.Context) (members []Member, err error) {
	err = b.ask(ctx, "members", b.inStep(func(ctx context.Context, _ *framework.Session) (err error) {
		members, err = b.members(ctx)
		return err
	}))
	return members, err
}

func (b *DoubleBarrier) members(ctx context.Context) (members []Member, err error) {
	there, err := b.layout.look(ctx)
	if err != nil {
		return nil, err
	}
	members = make([]Member, len(there.names))
	err = b.readMembers(ctx, there.names, b.client.Get, func(i int, data []byte, stat *zk.Stat) {
		members[i] = there.member(there.names[i], data, stat)
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(members, func(m Member) bool { return m.Name == "" }), nil
}

// memberReads is the number of nodes that are read at once, if not with one
// request.
const memberReads = 32

// memberData is more than a member's identity has, in bytes.
const memberData = 1 << 10

// readNode reads one node, as Client.Get does.
type readNode func(ctx context.Context, path string) ([]byte, *zk.Stat, error)

// readMembers reads the nodes of members, one by one if they cannot be read together,
// and calls take with the number of each that is there.
func (p place) readMembers(ctx context.Context, names []string, one readNode, take func(i int, data []byte, stat *zk.Stat)) error {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = p.child(name)
	}
	reads := follow.ReadsOf(p.client, memberReads)
	reads.One, reads.Size = one, memberData
	return reads.Each(ctx, paths, func(i int, node insider.NodeRead) error {
		if node.Err == nil {
			take(i, node.Data, node.Stat)
		}
		return ignore(node.Err, zk.ErrNoNode)
	})
}

// member returns what the node of a member says.
func (p present) member(name string, data []byte, stat *zk.Stat) Member {
	m := Member{
		Name: name, By: locks.ReadIdentity(data), Since: time.UnixMilli(stat.Ctime),
		Session: stat.EphemeralOwner, Inside: p.inside(name),
	}
	m.Leaving = m.Inside && p.marked && len(data) == 0
	return m
}

// present are the members that are there at a moment.
type present struct {
	names   []string // in order
	waiting []string // those that wait; in Curator's layout, all
	inside  func(name string) bool
	marked  bool // those that leave have empty nodes
}

// list returns the names of all nodes below the path, in order.
func (p place) list(ctx context.Context) ([]string, error) {
	names, _, err := p.client.Children(ctx, p.path)
	slices.Sort(names)
	return names, ignore(err, zk.ErrNoNode)
}
