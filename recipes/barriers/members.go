package barriers

import (
	"context"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/locks"
)

// Member is a member of a DoubleBarrier, as its node says.
type Member struct {
	Name    string         // of its node
	By      locks.Identity // anybody may have written it; zero when it leaves
	Since   time.Time      // when the node was created, by the server's clock
	Session int64          // the id of its session
	Inside  bool           // it has entered; in Curator's layout, if the barrier is open
	Leaving bool           // it has called Leave, and others have not; not in Curator's layout
}

// Members returns the members that are there now, those that wait and those
// that are inside, ordered by their names. It has seen every Enter and Leave
// that was complete before the call, as Barrier.Wait has. It reads the node of
// each member. A member that leaves meanwhile may be left out.
func (b *DoubleBarrier) Members(ctx context.Context) ([]Member, error) {
	if err := b.usable(); err != nil {
		return nil, errorOf("members", b.path, err)
	}
	var members []Member
	err := inStep(ctx, b.client, b.path, func(ctx context.Context) (err error) {
		members, err = b.members(ctx)
		return err
	})
	return members, errorOf("members", b.path, err)
}

func (b *DoubleBarrier) members(ctx context.Context) ([]Member, error) {
	names, _, err := b.client.Children(ctx, b.path)
	if reason.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	inside := func(string) bool { return slices.Contains(names, readyName) }
	if !b.cfg.curator {
		// After the names: members that are new in the rounds are left out.
		r, _, _, err := b.readRounds(ctx, false)
		if err != nil && !reason.Is(err, errAnew) {
			return nil, err
		}
		inside = func(name string) bool { return r.of(name).Members != nil }
	}
	var members []Member
	for _, name := range names {
		if b.cfg.curator && name == readyName || !b.cfg.curator && !isMember(name) {
			continue
		}
		data, stat, err := b.client.Get(ctx, b.child(name))
		if reason.Is(err, zk.ErrNoNode) {
			continue
		}
		if err != nil {
			return nil, err
		}
		m := Member{
			Name: name, By: locks.ReadIdentity(data), Since: time.UnixMilli(stat.Ctime),
			Session: stat.EphemeralOwner, Inside: inside(name),
		}
		m.Leaving = m.Inside && len(data) == 0 && !b.cfg.curator
		members = append(members, m)
	}
	return members, nil
}
