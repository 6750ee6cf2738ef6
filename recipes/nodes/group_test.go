package nodes_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
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

// views reads a group's views on a goroutine of its own. next returns them one
// after the other.
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

// A member is listed by itself only while its node is one of the present
// session: a node that the server is about to delete does not count. To others,
// it is a member as long as it is there.
func TestNodeOfAFormerSessionIsNotOneself(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		g := nodes.NewGroup(c, "/g")
		m := w.join(t, g, "a", "1")
		next := w.views(t, g)
		require.Equal(t, []string{"a=1*"}, text(next().Members))
		r, _ := m.Node().Registration()
		// The old node is not replaced, because the server is in trouble.
		w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Path: r.Path, Times: -1, Do: zktest.Fail(zktest.ErrSystem)})
		w.Fake.Session(r.Session.ID()).Pause()
		<-r.Session.Context().Done()
		_, there := m.Node().Registration()
		require.False(t, there)
		view := next()
		require.Empty(t, view.Members)
		require.Equal(t, []string{"a=1*"}, text(view.Left))
		others, err := nodes.NewGroup(w.Observer, "/g").Members(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"a=1"}, text(others))
		own, err := g.Members(t.Context())
		require.NoError(t, err)
		require.Empty(t, own)
		require.Equal(t, []string{"a=1*"}, text(next().Members), "when the old node has gone")
	})
}

// A member without the right to create its node is no member, not even to
// itself. Join says why.
func TestMemberWithoutRights(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		_, err := w.Observer.Create(w.Patience(t), path, nil, framework.WithACL(zk.WorldACL(zk.PermRead)))
		require.NoError(t, err)
		c, _ := w.Connect(t)
		g := nodes.NewGroup(c, path)
		_, err = g.Join(w.Patience(t), "a", nil)
		require.ErrorIs(t, err, zk.ErrNoAuth)
		members, err := g.Members(w.Patience(t))
		require.NoError(t, err)
		require.Empty(t, members)
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

// Views go on after an outage, a loss of the session, and the deletion of the
// whole group. A member that has stayed is not told again.
func TestViewsOutliveLossesOfTheSession(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		watching, network := w.Connect(t)
		g := nodes.NewGroup(c, "/g")
		w.join(t, g, "a", "1")
		next := w.views(t, nodes.NewGroup(watching, "/g"))
		require.Equal(t, []string{"a=1"}, text(next().Members))
		for i := range 5 {
			network.Refuse(true)
			network.Cut()
			time.Sleep(time.Duration(i*i) * 5 * time.Second)
			id := fmt.Sprint("b", i)
			w.join(t, g, id, "")
			network.Refuse(false)
			require.Equal(t, []string{id + "="}, text(next().Joined))
		}
		synctest.Wait()
		require.NoError(t, w.Fake.Delete("/g"))
		for joined := 0; joined < 6; {
			joined += len(next().Joined)
		}
	})
}

// The members of a group are read with few requests. The first time, another one
// asks the server whether it knows that.
func TestRequestsOfMembers(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		g := nodes.NewGroup(c, "/g")
		for i := range 100 {
			w.join(t, g, fmt.Sprintf("m%02d", i), "")
		}
		asking, _ := w.Connect(t)
		for _, probe := range [][]zktest.Op{{zktest.OpRemoveWatches}, nil} {
			w.Fake.ClearRequests()
			members, err := nodes.NewGroup(asking, "/g").Members(t.Context())
			require.NoError(t, err)
			require.Len(t, members, 100)
			want := slices.Concat([]zktest.Op{zktest.OpGetChildren2}, probe, []zktest.Op{zktest.OpMultiRead, zktest.OpMultiRead, zktest.OpMultiRead})
			require.Equal(t, want, w.requests(asking.SessionID()))
		}
	})
}

// A view costs a request for the group and one for each member, and a change one
// for what has changed.
func TestRequestsOfViews(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		g := nodes.NewGroup(c, "/g")
		one, two := w.join(t, g, "one", ""), w.join(t, g, "two", "")
		watching, _ := w.Connect(t)
		next := w.views(t, nodes.NewGroup(watching, "/g"))
		requests := func() []zktest.Op {
			next()
			settle()
			defer w.Fake.ClearRequests()
			return w.requests(watching.SessionID())
		}
		require.Equal(t, []zktest.Op{zktest.OpGetChildren2, zktest.OpGetData, zktest.OpGetData}, requests())
		require.NoError(t, one.Update(t.Context(), []byte("1")))
		require.Equal(t, []zktest.Op{zktest.OpGetData}, requests())
		require.NoError(t, two.Leave(t.Context()))
		left := requests()
		// The server tells of the deletion first, and then of the group. In between,
		// the view may read the node that is gone.
		require.Contains(t, [][]zktest.Op{{zktest.OpGetChildren2}, {zktest.OpGetData, zktest.OpGetChildren2}}, left)
		w.join(t, g, "three", "")
		require.Equal(t, []zktest.Op{zktest.OpGetChildren2, zktest.OpGetData}, requests())
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

// Views end with an error that waiting does not cure.
func TestViewsEndWithARefusal(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		_, err := w.Observer.Create(t.Context(), "/g", nil, framework.WithACL(zk.WorldACL(zk.PermCreate)))
		require.NoError(t, err)
		c, _ := w.Connect(t)
		last := func(g *nodes.Group) (last error) {
			for _, err := range g.Changes(w.Patience(t)) {
				require.NoError(t, last, "only the last one")
				last = err
			}
			return last
		}
		require.ErrorIs(t, last(nodes.NewGroup(c, "/g")), zk.ErrNoAuth)
		require.ErrorIs(t, last(nodes.NewGroup(nil, "/g")), zk.ErrBadArguments)
		require.ErrorIs(t, last(nodes.NewGroup(c, "g")), zk.ErrInvalidPath)
		require.NoError(t, c.Close())
		require.ErrorIs(t, last(nodes.NewGroup(c, "/other")), framework.ErrClosed)
		_, err = nodes.NewGroup(c, "/other").Members(t.Context())
		require.ErrorIs(t, err, framework.ErrClosed)
	})
}

func TestJoinsThatCannotBe(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		for _, id := range []string{"", "a/b", "..", "\x00"} {
			_, err := nodes.NewGroup(c, "/g").Join(t.Context(), id, nil)
			require.ErrorIs(t, err, zk.ErrInvalidPath, "%q", id)
		}
		for _, o := range []nodes.Option{nil, nodes.WithProtection(), nodes.WithMode(framework.Persistent), nodes.WithTouchName("a")} {
			_, err := nodes.NewGroup(c, "/g").Join(t.Context(), "a", nil, o)
			require.ErrorIs(t, err, zk.ErrBadArguments)
		}
		_, err := nodes.NewGroup(nil, "/g").Join(t.Context(), "a", nil)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		_, err = nodes.NewGroup(nil, "/g").Members(t.Context())
		require.ErrorIs(t, err, zk.ErrBadArguments)
	})
}

// An error names the call that returns it, and not the one of the member's node.
func TestErrorsNameTheCall(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		_, err := nodes.NewPersistentNode(nil, "/n", nil)
		require.ErrorContains(t, err, "new persistent node /n: ")
		g := nodes.NewGroup(c, "/g")
		m := w.join(t, g, "a", "")
		_, err = g.Join(t.Context(), "a", nil)
		require.ErrorContains(t, err, "join /g/a: another persistent node of this client has the path")
		over, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = g.Join(over, "b", nil)
		require.EqualError(t, err, "join /g/b: context canceled")
		require.EqualError(t, m.Update(over, []byte("x")), "update /g/a: context canceled")
		require.ErrorContains(t, m.Leave(over), "leave /g/a: ")
		require.NoError(t, m.Leave(w.Patience(t)))
		require.EqualError(t, m.Update(t.Context(), nil), "update /g/a: persistent node closed")
		_, err = m.Node().WaitRegistered(t.Context())
		require.EqualError(t, err, "wait registered /g/a: persistent node closed")
		require.EqualError(t, m.Node().Set(t.Context(), nil), "set /g/a: persistent node closed")
	})
}

// The pauses after errors begin anew when there was a view.
func TestViewEndsTheTroubleBefore(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		require.NoError(t, w.Fake.Create("/g", nil))
		fails := func(times int) {
			w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Op: zktest.OpGetChildren, Times: times, Do: zktest.Fail(zktest.ErrSystem)})
		}
		fails(8)
		views := make(chan int, 10)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for v, err := range nodes.NewGroup(c, "/g").Changes(ctx) {
				if err == nil {
					views <- len(v.Members)
				}
			}
		}()
		require.Zero(t, <-views)
		fails(1)
		require.NoError(t, w.Fake.Create("/g/a", nil))
		begun := time.Now()
		require.Equal(t, 1, <-views)
		require.Less(t, time.Since(begun), 2*time.Second)
		cancel()
		synctest.Wait()
	})
}
