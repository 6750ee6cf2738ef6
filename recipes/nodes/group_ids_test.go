package nodes_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// A Leave, or a Join, that gives up leaves a node for a while. The group does
// not list it as a stranger: it is neither oneself nor another member.
func TestNodeOfALeaveThatGaveUpIsNoStranger(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		g := nodes.NewGroup(c, "/g")
		m := w.join(t, g, "a", "1")
		next := w.views(t, g)
		require.Equal(t, []string{"a=1*"}, text(next().Members))
		w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Times: 3, Do: zktest.Fail(zktest.ErrSystem)})
		require.ErrorIs(t, m.Leave(recipetest.Within(t, time.Millisecond)), context.DeadlineExceeded)
		require.Empty(t, text(next().Members), "it has left")
		_, there := w.Fake.Node("/g/a")
		require.True(t, there)
		own, err := g.Members(t.Context())
		require.NoError(t, err)
		require.NotContains(t, text(own), "a=1", "no stranger")
		require.NotContains(t, text(own), "a=1*", "it has left")
		other, err := nodes.NewGroup(c, "/g").Members(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"a=1"}, text(other), "another Group has not joined")
		require.NoError(t, m.Leave(t.Context()), "when the server is well again")
		settle()
		require.Equal(t, "-", w.dataOf("/g/a"))

		again := w.join(t, g, "a", "2")
		own, err = g.Members(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"a=2*"}, text(own))
		require.NoError(t, m.Leave(t.Context()), "a late one of the first membership")
		own, err = g.Members(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"a=2*"}, text(own))
		require.NoError(t, again.Leave(t.Context()))
	})
}

// Goroutines that join with the same id at the same time: one becomes a member,
// and is listed as oneself. The others are told that the id is in use, and
// change nothing.
func TestRacingJoinsOfOneID(t *testing.T) {
	for round := range 50 {
		inVirtualTime(t, func(t *testing.T, w *world) {
			c, _ := w.Connect(t)
			g := nodes.NewGroup(c, "/g")
			const many = 8
			members, errs := make([]*nodes.GroupMember, many), make([]error, many)
			var joins sync.WaitGroup
			for i := range many {
				joins.Go(func() { members[i], errs[i] = g.Join(t.Context(), "id", fmt.Append(nil, i)) })
			}
			joins.Wait()
			var winner *nodes.GroupMember
			for i, err := range errs {
				if err == nil {
					require.Nil(t, winner, "round %d", round)
					winner = members[i]
					continue
				}
				require.ErrorIs(t, err, nodes.ErrInUse)
			}
			own, err := g.Members(t.Context())
			require.NoError(t, err)
			require.Len(t, own, 1)
			require.True(t, own[0].Self, "round %d", round)
			require.NoError(t, winner.Leave(t.Context()))
		})
	}
}
