//go:build real

package zkserver

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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
