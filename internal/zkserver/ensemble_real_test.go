//go:build real

package zkserver

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEnsembleElectsANewLeader(t *testing.T) {
	t.Parallel()
	kept, later := ownPath(), ownPath()
	began := time.Now()
	e := BorrowEnsemble(t, 3, linked...)
	t.Logf("start of an ensemble of three: %v", time.Since(began))
	for i, s := range e.Members() {
		require.Equal(t, i+1, s.ID())
		requireToldID(t, s)
	}
	conn := connect(t, e.Members()[0].Addr(), e.Members()[1].Addr(), e.Members()[2].Addr())
	create(t, conn, kept)
	ctx := withTimeout(t, time.Minute)

	leader, err := e.WaitLeader(ctx)
	require.NoError(t, err)
	require.NoError(t, leader.Kill())
	next, err := e.WaitLeader(ctx)
	require.NoError(t, err)
	require.NotSame(t, leader, next)
	requireData(t, conn, kept)
	create(t, conn, later)

	require.NoError(t, leader.Restart())
	mode, err := leader.Mode(withTimeout(t, time.Minute))
	require.NoError(t, err)
	require.Equal(t, "follower", mode)
	requireData(t, connect(t, leader.Addr()), later)
}

// requireToldID checks that the server has the id that ZooKeeper tells.
func requireToldID(t *testing.T, s *Server) {
	t.Helper()
	conf, err := s.FourLetter(withTimeout(t, time.Minute), "conf")
	require.NoError(t, err)
	told, ok := field(conf, "serverId=")
	require.True(t, ok, conf)
	require.Equal(t, told, strconv.Itoa(s.ID()))
}

func TestEnsembleRestart(t *testing.T) {
	kept := ownPath()
	e := BorrowEnsemble(t, 3, linked...)
	create(t, connect(t, e.Members()[0].Addr()), kept)
	require.NoError(t, each(e.Members(), (*Server).Kill))
	require.NoError(t, e.Restart())
	requireData(t, connect(t, e.Members()[2].Addr()), kept)
}

func TestSettled(t *testing.T) {
	servers := []*Server{{}, {}, {}}
	tests := []struct {
		name   string
		modes  []string
		leader int // -1: none
	}{
		{"all serve", []string{"follower", "leader", "follower"}, 1},
		{"one is down", []string{"", "follower", "leader"}, 2},
		{"still electing", []string{"", "", ""}, -1},
		{"leader just died", []string{"follower", "", "follower"}, -1},
		{"old leader not yet aware", []string{"leader", "leader", "follower"}, -1},
		{"followers gone", []string{"leader", "", ""}, -1},
		{"observers do not vote", []string{"leader", "observer", ""}, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			leader, err := electedLeader(servers, tt.modes)
			if tt.leader < 0 {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.Same(t, servers[tt.leader], leader)
		})
	}
}
