package barriers_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leadertest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// These tests lose the reply to a request. Then the client comes to a leader
// that has not applied the request, and that answers a sync all the same.

// parent makes the path of a double barrier.
func parent(t *testing.T, c *framework.Client) {
	t.Helper()
	_, err := c.Create(t.Context(), "/b", nil)
	require.NoError(t, err)
}

// A barrier that was raised is up, and its client does not go through.
func TestRaiseIsNotMisledByALeader(t *testing.T) {
	for name, opts := range map[string][]barriers.RaiseOption{"persistent": nil, "of a session": {barriers.WithSession()}} {
		t.Run(name, func(t *testing.T) {
			leadertest.AtEach(t, parent, func(t *testing.T, l *leadertest.LostReply) {
				b := barriers.NewBarrier(l.Client, "/gate")
				l.Lose(zktest.OpCreate)
				up, err := b.Raise(t.Context(), opts...)
				require.NoError(t, err)
				require.Equal(t, len(opts) > 0, up.Session != nil)
				require.ErrorIs(t, b.Wait(recipetest.Within(t, time.Minute)), barriers.ErrRaised)
				require.Contains(t, l.Nodes("/"), "gate")
			})
		})
	}
}

// The barrier becomes one without a session. It is up all the time.
func TestRaiseOfABarrierOfASessionIsNotMisledByALeader(t *testing.T) {
	raised := func(t *testing.T, c *framework.Client) {
		_, err := barriers.NewBarrier(c, "/gate").Raise(t.Context(), barriers.WithSession())
		require.NoError(t, err)
	}
	leadertest.AtEach(t, raised, func(t *testing.T, l *leadertest.LostReply) {
		b := barriers.NewBarrier(l.Client, "/gate")
		l.Lose(zktest.OpMulti)
		up, err := b.Raise(t.Context())
		require.NoError(t, err)
		require.Zero(t, up.Owner)
		require.ErrorIs(t, b.Wait(recipetest.Within(t, time.Minute)), barriers.ErrRaised)
		require.Contains(t, l.Nodes("/"), "gate")
	})
}

// A member is counted once, and enters and leaves, whichever of its replies was lost.
func TestMemberIsNotMisledByALeader(t *testing.T) {
	for name, lost := range map[string]struct{ entering, leaving zktest.Op }{
		"its node": {entering: zktest.OpCreate}, "the deletes": {leaving: zktest.OpDelete},
	} {
		for place, comesFirst := range map[string]bool{"comes first": true, "comes last": false} {
			t.Run(name+"/"+place, func(t *testing.T) {
				leadertest.AtEach(t, parent, func(t *testing.T, l *leadertest.LostReply) {
					m := misled{LostReply: l}
					if m.enter(t, lost.entering, comesFirst) {
						m.leave(t, lost.leaving)
					}
				})
			})
		}
	}
}

// misled is a member that loses a reply. There is another one, at a server that
// does not mislead.
type misled struct {
	*leadertest.LostReply
	one, other *barriers.Passage
}

func (m *misled) lose(op zktest.Op) {
	if op != 0 {
		m.Lose(op)
	}
}

func (m *misled) barrier(c *framework.Client) *barriers.DoubleBarrier {
	return barriers.NewDoubleBarrier(c, "/b", 2)
}

// enter lets both members enter. A deposed leader may keep the misled member until its
// session is lost. Then the other member has gone through and leaves, and enter returns
// false.
func (m *misled) enter(t *testing.T, lost zktest.Op, comesFirst bool) bool {
	t.Helper()
	c, err := framework.Connect(t.Context(), m.Front.Addr(), framework.WithDialer(m.Ens.Dialer()))
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	m.lose(lost)
	var one, other *entering
	if comesFirst {
		one = enterLater(recipetest.Within(t, time.Minute), m.barrier(m.Client))
		settle()
		other = enterLater(recipetest.Within(t, time.Minute), m.barrier(c))
	} else {
		other = enterLater(recipetest.Within(t, time.Minute), m.barrier(c))
		settle()
		one = enterLater(recipetest.Within(t, time.Minute), m.barrier(m.Client))
	}
	m.other = other.wait(t)
	<-one.done
	if one.err != nil {
		require.ErrorIs(t, one.err, barriers.ErrNotEntered)
		require.NoError(t, m.other.Leave(t.Context()))
		require.Empty(t, m.Nodes("/b"))
		return false
	}
	m.one = one.wait(t)
	require.NoError(t, m.one.Context().Err())
	require.NoError(t, m.other.Context().Err())
	return true
}

// leave lets both members leave. A deposed leader may keep the misled member until its
// session is lost.
func (m *misled) leave(t *testing.T, lost zktest.Op) {
	t.Helper()
	m.lose(lost)
	one, other := leaveLater(recipetest.Within(t, time.Minute), m.one), leaveLater(recipetest.Within(t, time.Minute), m.other)
	<-one.done
	<-other.done
	require.NoError(t, other.err)
	if one.err != nil {
		require.ErrorIs(t, one.err, framework.ErrSessionLost)
	}
	for _, p := range []*barriers.Passage{m.one, m.other} {
		require.ErrorIs(t, context.Cause(p.Context()), barriers.ErrLeft)
	}
	require.Empty(t, m.Nodes("/b"))
}
