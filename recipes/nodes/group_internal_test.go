package nodes

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// Two Joins of one id take turns in the worst order: the one that begins first
// starts its node last, and fails. That does not make the other's node a
// stranger, neither in its session nor afterwards.
func TestJoinThatFailsLeavesTheOtherAMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		g := NewGroup(c, "/g")
		loser := newNode(c, "/g/id", nil, newConfig(nil))
		winner := newNode(c, "/g/id", nil, newConfig(nil))
		g.add("id", loser)
		g.add("id", winner)
		require.NoError(t, winner.start())
		require.ErrorIs(t, loser.start(), ErrInUse)
		g.remove("id", loser)
		r, err := winner.WaitRegistered(t.Context())
		require.NoError(t, err)

		members, err := g.Members(t.Context())
		require.NoError(t, err)
		require.Len(t, members, 1)
		require.True(t, members[0].Self)
		self, past := g.whose("id", r.Session.ID(), r.Session.ID()+1)
		require.Equal(t, []bool{false, true}, []bool{self != nil, past}, "to the next session, it is a former one")
		self, past = g.whose("id", r.Session.ID()+1, r.Session.ID())
		require.Equal(t, []bool{false, false}, []bool{self != nil, past}, "it is somebody else's")
	})
}

// A Join that is refused leaves nothing in the Group.
func TestGroupForgetsARefusedJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		g := NewGroup(c, "/g")
		m, err := g.Join(t.Context(), "id", nil)
		require.NoError(t, err)
		_, err = g.Join(t.Context(), "id", nil)
		require.ErrorIs(t, err, ErrInUse)
		require.Equal(t, map[string][]*PersistentNode{"id": {m.Node()}}, g.mine)
		require.NoError(t, m.Leave(t.Context()))
		require.Empty(t, g.mine)
	})
}
