package zkserver

import (
	"bytes"
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
	if e.Servers[0] != leader {
		return e.Servers[0]
	}
	return e.Servers[1]
}

// linked are the options of ensembles whose servers are cut off from one
// another.
var linked = []Option{WithLinks(), WithQuorumTimeouts(10*time.Second, 2*time.Second)}

// A follower that is cut off from its leader keeps answering reads until it
// notices. Then it serves no client. The other two servers are not affected.
func TestCutFollowerKeepsItsClientsUntilItNotices(t *testing.T) {
	t.Parallel()
	e := StartEnsemble(t, 3, WithLinks(), WithQuorumTimeouts(10*time.Second, 6*time.Second))
	ctx := withTimeout(t, 2*time.Minute)
	leader, err := e.Leader(ctx)
	require.NoError(t, err)
	cut := follower(e, leader)
	conn, other := connect(t, cut.Addr()), connect(t, leader.Addr())
	create(t, conn, "/n")

	began := time.Now()
	require.NoError(t, e.Isolate(cut))
	_, err = other.Set("/n", []byte("new"), -1)
	require.NoError(t, err)
	data, _, err := conn.Get("/n")
	require.NoError(t, err, "it still answers")
	require.Equal(t, "/n", string(data), "but does not know better")

	requireNotServing(t, ctx, cut)
	require.Greater(t, time.Since(began), time.Second, "syncLimit is six seconds")
	still, err := e.Leader(ctx)
	require.NoError(t, err)
	require.Same(t, leader, still)

	require.NoError(t, e.Mend())
	require.NoError(t, poll(ctx, nil, func(ctx context.Context) error {
		_, err := cut.Mode(ctx)
		return err
	}))
	require.NoError(t, poll(ctx, nil, func(context.Context) error {
		data, _, err := conn.Get("/n")
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
	e := BorrowEnsemble(t, 3, linked...)
	ctx := withTimeout(t, 2*time.Minute)
	old, err := e.Leader(ctx)
	require.NoError(t, err)
	require.NoError(t, e.Isolate(old))
	requireNotServing(t, ctx, old)
	next, err := e.Leader(ctx)
	require.NoError(t, err)
	require.NotSame(t, old, next)
	create(t, connect(t, next.Addr()), "/n")

	require.NoError(t, e.Mend())
	require.NoError(t, poll(ctx, nil, func(ctx context.Context) error {
		_, err := old.Mode(ctx)
		return err
	}))
	conn := connect(t, old.Addr())
	waitCaughtUp(t, conn)
	requireData(t, conn, "/n")
}

// A restarted server reconnects through the links, whatever its id is. The
// server with the higher id connects to the other.
func TestLinkedServersComeBack(t *testing.T) {
	e := StartEnsemble(t, 3, WithLinks())
	for _, s := range e.Servers {
		require.NoError(t, s.Kill())
		require.NoError(t, s.Restart())
	}
	create(t, connect(t, strings.Split(e.ConnectString(), ",")...), "/n")
}

// Without links no traffic passes through this program, so there is nothing to
// cut.
func TestCutNeedsLinks(t *testing.T) {
	a, b := &Server{}, &Server{}
	e := &Ensemble{Servers: []*Server{a, b}}
	require.ErrorIs(t, e.Cut(a, b), ErrNoLinks)
	require.ErrorIs(t, e.Isolate(a), ErrNoLinks)
	require.ErrorIs(t, e.Mend(), ErrNoLinks)
	e.links = &links{}
	require.ErrorIs(t, e.Cut(a, &Server{}), ErrNoLinks)
	require.ErrorIs(t, e.Cut(a, a), ErrNoLinks)
}

func TestAnonymousGreeting(t *testing.T) {
	version := []byte{255, 255, 255, 255, 255, 255, 0, 0}
	id := []byte{0, 0, 0, 0, 0, 0, 0, 3}
	tests := []struct {
		name    string
		in, out []byte
		err     string
	}{
		{"with an address", bytes.Join([][]byte{version, id, {0, 0, 0, 2}, []byte("h:rest")}, nil), id, ""},
		{"without", append(id[:8:8], "rest"...), id, ""},
		{"too short", id[:7], nil, "EOF"},
		{"absurd", bytes.Join([][]byte{version, id, {127, 0, 0, 2}}, nil), nil, "too long"},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		err := withoutAddress(&out, bytes.NewReader(tt.in))
		if tt.err != "" {
			require.ErrorContains(t, err, tt.err, tt.name)
		} else {
			require.NoError(t, err, tt.name)
		}
		require.Equal(t, tt.out, out.Bytes(), tt.name)
	}
}
