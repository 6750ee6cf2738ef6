package barriers

import (
	"context"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
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
// that was complete before the call, as Barrier.Wait has. It reads the node of
// each member. A member that leaves meanwhile may be left out. Members goes on
// through outages until ctx ends.
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
	for _, name := range there.names {
		data, stat, err := b.client.Get(ctx, b.child(name))
		if reason.Is(err, zk.ErrNoNode) {
			continue
		}
		if err != nil {
			return nil, err
		}
		m := Member{
			Name: name, By: locks.ReadIdentity(data), Since: time.UnixMilli(stat.Ctime),
			Session: stat.EphemeralOwner, Inside: there.inside(name),
		}
		m.Leaving = m.Inside && there.marked && len(data) == 0
		members = append(members, m)
	}
	return members, nil
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
