//go:build real

package zkserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// follower returns a server that is not the leader.
func follower(e *Ensemble, leader *Server) *Server {
	if e.Members()[0] != leader {
		return e.Members()[0]
	}
	return e.Members()[1]
}

// linked are the options of ensembles whose servers are cut off from one
// another.
var linked = []Option{WithLinks(), WithSyncLimit(60)} // six seconds

// A follower that is cut off from its leader keeps answering reads until it
// notices. Then it serves no client. The other two servers are not affected.
func TestCutFollowerKeepsItsClientsUntilItNotices(t *testing.T) {
	t.Parallel()
	node := ownPath()
	e := BorrowEnsemble(t, 3, linked...)
	ctx := withTimeout(t, 2*time.Minute)
	leader, err := e.WaitLeader(ctx)
	require.NoError(t, err)
	cut := follower(e, leader)
	conn, other := connect(t, cut.Addr()), connect(t, leader.Addr())
	create(t, conn, node)

	began := time.Now()
	require.NoError(t, e.Partition(cut))
	_, err = other.Set(node, []byte("new"), -1)
	require.NoError(t, err)
	data, _, err := conn.Get(node)
	require.NoError(t, err, "it still answers")
	require.Equal(t, node, string(data), "but does not know better")

	requireNotServing(t, ctx, cut)
	require.Greater(t, time.Since(began), time.Second, "syncLimit is six seconds")
	still, err := e.WaitLeader(ctx)
	require.NoError(t, err)
	require.Same(t, leader, still)

	require.NoError(t, e.Heal())
	require.NoError(t, poll(ctx, nil, func(ctx context.Context) error {
		_, err := cut.Mode(ctx)
		return err
	}))
	require.NoError(t, poll(ctx, nil, func(context.Context) error {
		data, _, err := conn.Get(node)
		if err == nil && string(data) != "new" {
			err = fmt.Errorf("still %q", data)
		}
		return err
	}))
}

func requireNotServing(t *testing.T, ctx context.Context, s *Server) {
	t.Helper()
	require.NoError(t, poll(ctx, nil, func(ctx context.Context) error {
		if _, err := s.Mode(ctx); !errors.Is(err, ErrNotServing) {
			return fmt.Errorf("serves: %w", err)
		}
		return nil
	}))
}

func TestCutLeaderGivesUpAndAnotherIsElected(t *testing.T) {
	t.Parallel()
	node := ownPath()
	e := BorrowEnsemble(t, 3, linked...)
	ctx := withTimeout(t, 2*time.Minute)
	old, err := e.WaitLeader(ctx)
	require.NoError(t, err)
	require.NoError(t, e.Partition(old))
	requireNotServing(t, ctx, old)
	next, err := e.WaitLeader(ctx)
	require.NoError(t, err)
	require.NotSame(t, old, next)
	create(t, connect(t, next.Addr()), node)

	require.NoError(t, e.Heal())
	require.NoError(t, poll(ctx, nil, func(ctx context.Context) error {
		_, err := old.Mode(ctx)
		return err
	}))
	conn := connect(t, old.Addr())
	waitCaughtUp(t, conn)
	requireData(t, conn, node)
}

// A restarted server reconnects through the links, whatever its id is. The
// server with the higher id connects to the other.
func TestLinkedServersComeBack(t *testing.T) {
	e := BorrowEnsemble(t, 3, linked...)
	for _, s := range e.Members() {
		require.NoError(t, s.Kill())
		require.NoError(t, s.Restart())
	}
	create(t, connect(t, strings.Split(e.ConnectString(), ",")...), ownPath())
}

// fourLinked returns an ensemble of four servers that do not run. Their links
// carry nothing.
func fourLinked() *Ensemble {
	e := &Ensemble{links: &links{pairs: make(map[pair]*gate)}}
	for id := 1; id <= 4; id++ {
		e.servers = append(e.servers, &Server{member: member{id: id}})
		for other := 1; other < id; other++ {
			e.links.pairs[pairOf(id, other)] = newGate()
		}
	}
	return e
}

// cuts returns the pairs of servers that are cut off from each other.
func (e *Ensemble) cuts() []pair {
	var cuts []pair
	for p, g := range e.links.pairs {
		if shut, _ := g.status(); shut {
			cuts = append(cuts, p)
		}
	}
	return cuts
}

func TestPartitionCutsLinksBetweenTheSides(t *testing.T) {
	e := fourLinked()
	require.NoError(t, e.Partition(e.servers[1], e.servers[3]))
	apart := []pair{{1, 2}, {1, 4}, {2, 3}, {3, 4}}
	require.ElementsMatch(t, apart, e.cuts())
	require.NoError(t, e.Partition(e.servers[0], e.servers[1]))
	require.ElementsMatch(t, append(apart, pair{1, 3}, pair{2, 4}), e.cuts(),
		"the two are together now, but were cut apart before")
	require.NoError(t, e.Heal())
	require.Empty(t, e.cuts())
	require.NoError(t, e.Heal(), "there is nothing to heal")
}
