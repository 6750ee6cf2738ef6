package nodes_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

func (w *world) join(t *testing.T, g *nodes.Group, id, payload string, opts ...nodes.Option) *nodes.GroupMember {
	t.Helper()
	m, err := g.Join(w.Patience(t), id, []byte(payload), opts...)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		m.Leave(ctx)
	})
	return m
}

// views reads a group's views on a new goroutine. next returns them one after the
// other.
func (w *world) views(t *testing.T, g *nodes.Group) (next func() nodes.View) {
	t.Helper()
	return recipetest.Read(t, w.World, g.Changes)
}

// text describes members: their ids and payloads, and an asterisk for oneself.
func text(members []nodes.Member) (all []string) {
	for _, m := range members {
		s := m.ID + "=" + string(m.Payload)
		if m.Self {
			s += "*"
		}
		all = append(all, s)
	}
	return all
}

// Members join, update and leave. Others see each change, observers too, and
// everybody knows which member it is itself.
func TestMembersJoinUpdateAndLeave(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t) + "/group"
		one, _ := w.Connect(t)
		two, _ := w.Connect(t)
		a, b, observer := nodes.NewGroup(one, path), nodes.NewGroup(two, path), nodes.NewGroup(w.Observer, path)
		none, err := observer.Members(w.Patience(t))
		require.NoError(t, err)
		require.Empty(t, none)
		next := w.views(t, observer)
		require.Equal(t, nodes.View{}, next(), "the first view comes at once")

		first := w.join(t, a, "first", "1")
		view := next()
		require.Equal(t, []string{"first=1"}, text(view.Members))
		require.Equal(t, []string{"first=1"}, text(view.Joined))
		second := w.join(t, b, "second", "2")
		require.Equal(t, "second", second.ID())
		require.Equal(t, []string{"second=2"}, text(next().Joined))
		require.NoError(t, first.Update(w.Patience(t), []byte("11")))
		view = next()
		require.Equal(t, []string{"first=11"}, text(view.Updated))
		require.Equal(t, []string{"first=11", "second=2"}, text(view.Members))

		mine, err := a.Members(w.Patience(t))
		require.NoError(t, err)
		require.Equal(t, []string{"first=11*", "second=2"}, text(mine))
		require.Equal(t, one.SessionID(), mine[0].Session)
		r, _ := first.Node().Registration()
		require.Equal(t, r.Czxid, mine[0].Czxid)
		require.Equal(t, path+"/first", mine[0].Path)
		require.WithinDuration(t, time.Now(), mine[0].Since, time.Minute)

		require.NoError(t, first.Leave(w.Patience(t)))
		view = next()
		require.Equal(t, []string{"first=11"}, text(view.Left))
		require.Equal(t, []string{"second=2"}, text(view.Members))
		require.NoError(t, second.Leave(w.Patience(t)))
		require.Empty(t, next().Members)
		again := w.join(t, a, "first", "again")
		require.Equal(t, []string{"first=again"}, text(next().Members))
		require.NoError(t, again.Leave(w.Patience(t)))
	})
}

// A member without a payload says who it is.
func TestMemberWithoutPayloadHasAnIdentity(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t, framework.WithServiceName("orders"))
		g := nodes.NewGroup(c, "/g")
		m, err := g.Join(t.Context(), "a", nil)
		require.NoError(t, err)
		members, err := g.Members(t.Context())
		require.NoError(t, err)
		require.Equal(t, "orders", members[0].Identity().Service)
		require.Equal(t, os.Getpid(), members[0].Identity().PID)
		require.NoError(t, m.Update(t.Context(), []byte("text")))
		members, err = g.Members(t.Context())
		require.NoError(t, err)
		require.Equal(t, "text", members[0].Identity().Foreign)
		empty := w.join(t, g, "b", "")
		require.Empty(t, w.dataOf("/g/"+empty.ID()))
	})
}

// A member whose session is lost is a member until the servers delete its node, to
// others and to itself.
func TestNodeOfAFormerSessionIsAMember(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		g := nodes.NewGroup(c, "/g")
		m := w.join(t, g, "a", "1")
		next := w.views(t, g)
		require.Equal(t, []string{"a=1*"}, text(next().Members))
		r, _ := m.Node().Registration()
		// The old node is not replaced, because the server fails.
		w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Path: r.Path, Times: -1, Do: zktest.Fail(zkinside.ErrSystem)})
		zkinside.Of(w.Fake).PauseSession(r.Session.ID())
		<-r.Session.Context().Done()
		_, there := m.Node().Registration()
		require.False(t, there)
		for group, want := range map[*nodes.Group]string{g: "a=1*", nodes.NewGroup(w.Observer, "/g"): "a=1"} {
			members, err := group.Members(t.Context())
			require.NoError(t, err)
			require.Equal(t, []string{want}, text(members))
		}
		require.Empty(t, next().Members, "the servers have deleted the old node")
		require.Equal(t, []string{"a=1*"}, text(next().Members))
	})
}

// An id that is taken is a conflict: Join waits, and gives up with its context,
// and leaves nothing behind.
func TestIdThatIsTaken(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		one, _ := w.Connect(t)
		two, _ := w.Connect(t)
		a, b := nodes.NewGroup(one, "/g"), nodes.NewGroup(two, "/g")
		m := w.join(t, a, "id", "a")
		_, err := b.Join(recipetest.Within(t, time.Second), "id", []byte("b"))
		require.ErrorIs(t, err, nodes.ErrConflict)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = a.Join(t.Context(), "id", []byte("b"))
		require.ErrorIs(t, err, nodes.ErrInUse)
		own, err := a.Members(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"id=a*"}, text(own))
		others, err := b.Members(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"id=a"}, text(others), "the other's is a member, and not oneself")
		require.NoError(t, m.Leave(t.Context()))
		settle()
		require.Empty(t, w.Fake.Children("/g"), "the one that gave up does not come")
		w.NoWatches(t)
	})
}

// A slow reader gets the last state, with all that has happened, in one view.
func TestSlowReaderOfViews(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		g := nodes.NewGroup(c, "/g")
		gone := w.join(t, g, "gone", "")
		first := true
		for view, err := range nodes.NewGroup(w.Observer, "/g").Changes(t.Context()) {
			require.NoError(t, err)
			if first {
				first = false
				require.Equal(t, []string{"gone="}, text(view.Members))
				require.NoError(t, gone.Leave(t.Context()))
				kept := w.join(t, g, "kept", "1")
				require.NoError(t, kept.Update(t.Context(), []byte("2")))
				require.NoError(t, w.join(t, g, "short", "").Leave(t.Context()))
				settle()
				continue
			}
			require.Equal(t, []string{"kept=2"}, text(view.Members))
			require.Equal(t, []string{"kept=2"}, text(view.Joined))
			require.Equal(t, []string{"gone="}, text(view.Left))
			break
		}
	})
}

// A loop that is left leaves no watch, and so does one whose context ends.
func TestViewsLeaveNoWatch(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		g := nodes.NewGroup(w.Observer, recipetest.Path(t))
		for range g.Changes(w.Patience(t)) {
			break
		}
		w.NoWatches(t)
		joined := nodes.NewGroup(c, recipetest.Path(t))
		m := w.join(t, joined, "a", "")
		ctx, cancel := context.WithCancel(w.Patience(t))
		defer cancel()
		for _, err := range nodes.NewGroup(w.Observer, recipetest.Path(t)).Changes(ctx) {
			require.NoError(t, err)
			cancel()
		}
		for range joined.Changes(w.Patience(t)) {
			break
		}
		require.NoError(t, m.Leave(w.Patience(t)))
		w.NoWatches(t)
	})
}

func TestJoinsThatCannotBe(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		for _, id := range []string{"", "a/b", "..", "\x00"} {
			_, err := nodes.NewGroup(c, "/g").Join(t.Context(), id, nil)
			require.ErrorIs(t, err, zk.ErrInvalidPath, "%q", id)
		}
		for _, o := range []nodes.Option{nil, nodes.WithProtection(), nodes.WithMode(framework.Persistent), nodes.WithTTL(time.Minute)} {
			_, err := nodes.NewGroup(c, "/g").Join(t.Context(), "a", nil, o)
			require.ErrorIs(t, err, zk.ErrBadArguments)
		}
		_, err := nodes.NewGroup(nil, "/g").Join(t.Context(), "a", nil)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		_, err = nodes.NewGroup(nil, "/g").Members(t.Context())
		require.ErrorIs(t, err, zk.ErrBadArguments)
	})
}
