package nodes_test

import (
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

// A member whose node the client may not read is a member nevertheless. It is
// listed without its payload, and spoils nothing for the others.
func TestMemberThatMayNotBeReadIsListed(t *testing.T) {
	for name, opts := range map[string][]zktest.Option{"that tell nothing": nil, "that tell whose it is": {zkinside.With(zkinside.Settings{Version38: true}).(zktest.Option)}} {
		t.Run(name, func(t *testing.T) {
			recipetest.InVirtualTime(t, func(t *testing.T, rw *recipetest.World) {
				w := &world{rw}
				owner, _ := w.Connect(t, framework.WithAuth("digest", []byte("me:secret")))
				hidden := zk.DigestACL(zk.PermAll, "me", "secret")
				_, err := nodes.NewGroup(owner, "/g").Join(w.Patience(t), "hidden", []byte("x"), nodes.WithACL(hidden))
				require.NoError(t, err)
				c, _ := w.Connect(t)
				g := nodes.NewGroup(c, "/g")
				m, err := g.Join(w.Patience(t), "plain", []byte("y"))
				require.NoError(t, err)
				defer m.Leave(w.Patience(t))

				check := func(members []nodes.Member, err error) {
					require.NoError(t, err)
					require.Len(t, members, 2)
					require.Equal(t, "hidden", members[0].ID)
					require.True(t, members[0].Unreadable)
					require.Empty(t, members[0].Payload)
					require.False(t, members[1].Unreadable)
					require.Equal(t, "y", string(members[1].Payload))
				}
				check(g.Members(w.Patience(t)))
				views := 0
				for view, err := range g.Changes(w.Patience(t)) {
					if views++; views == 1 {
						check(view.Members, err)
						_, err = owner.SetACL(t.Context(), "/g/hidden", zk.WorldACL(zk.PermAll), framework.AnyVersion)
						require.NoError(t, err)
						other, err := nodes.NewGroup(owner, "/g").Join(w.Patience(t), "third", nil)
						require.NoError(t, err)
						defer other.Leave(recipetest.Within(t, time.Minute))
						continue
					}
					require.NoError(t, err)
					if len(view.Members) == 3 {
						break
					}
				}
				all, err := g.Members(w.Patience(t))
				require.NoError(t, err)
				require.Equal(t, "x", string(all[0].Payload), "it may be read by now")
			}, opts...)
		})
	}
}

// A member whose node cannot be deleted stays a member.
func TestMemberWhoseLeaveIsRefusedIsListed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		g := nodes.NewGroup(c, "/g")
		m := w.join(t, g, "a", "1")
		_, err := c.SetACL(t.Context(), "/g", zk.WorldACL(zk.PermRead|zk.PermCreate|zk.PermAdmin), framework.AnyVersion)
		require.NoError(t, err)
		require.ErrorIs(t, m.Leave(w.Patience(t)), zk.ErrNoAuth)
		members, err := g.Members(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"a=1*"}, text(members))
	})
}

// A group that the client may not list ends a loop over its views, also one that has
// had views.
func TestRefusalEndsViews(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create("/g", nil))
		c, network := w.Connect(t)
		var ends []error
		for _, err := range nodes.NewGroup(c, "/g").Changes(w.Patience(t)) {
			ends = append(ends, err)
			_, err = w.Observer.SetACL(t.Context(), "/g", zk.WorldACL(zk.PermCreate|zk.PermAdmin), framework.AnyVersion)
			require.NoError(t, err)
			network.Cut() // all is read anew
		}
		require.Len(t, ends, 2)
		require.NoError(t, ends[0])
		require.ErrorIs(t, ends[1], zk.ErrNoAuth)
		for _, err := range nodes.NewGroup(c, "/g").Changes(w.Patience(t)) {
			require.ErrorIs(t, err, zk.ErrNoAuth)
		}
	})
}

// While a server fails to list the group, nothing is known of its members: the first
// view comes later, and the next one is not empty.
func TestServerThatFailsToListAGroupEmptiesNoView(t *testing.T) {
	for name, isFirst := range map[string]bool{"first view": true, "later view": false} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, network := w.Connect(t)
				other, _ := w.Connect(t)
				w.join(t, nodes.NewGroup(other, "/g"), "a", "1")
				fail := func() {
					for _, op := range []zktest.Op{zkinside.OpGetChildren2, zkinside.OpMultiRead, zktest.OpGetData} {
						w.Fake.Inject(zktest.Rule{Optional: true, Op: op, Session: c.SessionID(), Times: 1, Do: zktest.Fail(zkinside.ErrSystem)})
					}
				}
				if isFirst {
					fail()
				}
				var views []string
				for view, err := range nodes.NewGroup(c, "/g").Changes(recipetest.Within(t, time.Minute)) {
					require.NoError(t, err)
					views = append(views, text(view.Members)...)
					require.Len(t, view.Members, 1)
					if !isFirst {
						fail()
						network.Cut()
						isFirst = true
					}
				}
				require.Equal(t, []string{"a=1"}, views)
			})
		})
	}
}
