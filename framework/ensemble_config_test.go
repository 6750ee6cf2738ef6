package framework

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEnsembleConfigIsRead(t *testing.T) {
	full := parseEnsembleConfig([]byte(strings.Join([]string{
		"server.1=zk1:2888:3888:participant;0.0.0.0:2181",
		"server.2=zk2:2888:3888:observer;2181",
		"server.3=[::1]:2888:3888",
		"server.10=a:1:2|b:3:4:participant;[::]:5;6",
		"# a comment",
		"group.1=1:2:3",
		"weight.1=2",
		"server.x=what",
		"server.4=zk4",
		"server.5=zk5:1:99999",
		"later=more",
		"version=10000000a",
	}, "\n")))
	require.Equal(t, EnsembleConfig{
		Members: []Member{
			{ID: 1, Addresses: []MemberAddress{{Host: "zk1", QuorumPort: 2888, ElectionPort: 3888}}, Role: "participant", Client: "0.0.0.0:2181"},
			{ID: 2, Addresses: []MemberAddress{{Host: "zk2", QuorumPort: 2888, ElectionPort: 3888}}, Role: "observer", Client: "2181"},
			{ID: 3, Addresses: []MemberAddress{{Host: "::1", QuorumPort: 2888, ElectionPort: 3888}}},
			{ID: 10, Addresses: []MemberAddress{{"a", 1, 2}, {"b", 3, 4}}, Role: "participant", Client: "[::]:5;6"},
		},
		Version: 0x10000000a,
		Other:   []string{"group.1=1:2:3", "weight.1=2", "server.x=what", "server.4=zk4", "server.5=zk5:1:99999", "later=more"},
	}, full)
	require.Equal(t, EnsembleConfig{}, parseEnsembleConfig(nil))
	require.Equal(t, "server.10=a:1:2|b:3:4:participant;[::]:5;6", full.Members[3].String())
}
