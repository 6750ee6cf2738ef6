package leader_test

import (
	"context"
	"path"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leadertest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// elections are Latch and Selector, as the tests of the ensemble's leaders use
// them. Each runs work under one leadership, and returns when its node is gone.
var elections = map[string]func(t *testing.T, c *framework.Client, work func(ctx context.Context, e candidacy)){
	"latch": func(t *testing.T, c *framework.Client, work func(ctx context.Context, e candidacy)) {
		l, err := leader.NewLatch(c, "/l")
		require.NoError(t, err)
		lease, err := l.WaitLeadership(t.Context())
		require.NoError(t, err)
		work(lease.Context(), l)
		requireGone(t, l.Shutdown(t.Context()))
	},
	"selector": func(t *testing.T, c *framework.Client, work func(ctx context.Context, e candidacy)) {
		s := leader.NewSelector(c, "/l")
		require.NoError(t, s.Run(t.Context(), func(ctx context.Context) error {
			work(ctx, s)
			return nil
		}))
	},
}

// requireGone checks the error of a call that waits for the end of a node. If the
// session is over before a server has answered, no server has said that the node is
// gone.
func requireGone(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		require.ErrorIs(t, err, framework.ErrLeftToServers)
	}
}

// candidacy is a Latch or a Selector.
type candidacy interface {
	Leadership() *locks.Lease
	Leader(ctx context.Context) (locks.Participant, error)
	Participants(ctx context.Context) ([]locks.Participant, error)
}

// atEachLeader runs a test with each kind of election, and each kind of leader of
// the ensemble.
func atEachLeader(t *testing.T, test func(t *testing.T, l *leadertest.LostReply, lead func(func(context.Context, candidacy)))) {
	for name, elect := range elections {
		t.Run(name, func(t *testing.T) {
			parents := func(t *testing.T, c *framework.Client) { elect(t, c, func(context.Context, candidacy) {}) }
			leadertest.AtEach(t, parents, func(t *testing.T, l *leadertest.LostReply) {
				test(t, l, func(work func(context.Context, candidacy)) { elect(t, l.Client, work) })
			})
		})
	}
}

// The reply to a candidate's create is lost, and then a leader that has not
// applied the create says that there is no such node. The candidate leads with
// that node. It asks for no second one, which it would have to remove.
func TestCandidateIsNotMisledByALeader(t *testing.T) {
	atEachLeader(t, func(t *testing.T, l *leadertest.LostReply, lead func(func(context.Context, candidacy))) {
		l.Lose(zktest.OpCreate)
		before := l.Creates()
		lead(func(ctx context.Context, e candidacy) {
			require.Equal(t, []string{path.Base(e.Leadership().Path())}, l.Nodes("/l"))
			require.Equal(t, 1, l.Creates()-before)
			require.NoError(t, ctx.Err())
			now, err := e.Leader(ctx)
			require.NoError(t, err)
			require.Equal(t, e.Leadership().FencingToken(), now.Token)
			all, err := e.Participants(ctx)
			require.NoError(t, err)
			require.Equal(t, []locks.Participant{now}, all)
		})
		require.Empty(t, l.Nodes("/l"))
	})
}

// The reply to the deletion of a leader's node is lost, and then a leader that
// has not applied the deletion still has the node. It is gone in the end, and
// the call that gives the leadership up says nothing else.
func TestLeaderThatStepsDownIsNotMisledByALeader(t *testing.T) {
	atEachLeader(t, func(t *testing.T, l *leadertest.LostReply, lead func(func(context.Context, candidacy))) {
		lead(func(context.Context, candidacy) { l.Lose(zktest.OpDelete) })
		require.Empty(t, l.Nodes("/l"))
	})
}
