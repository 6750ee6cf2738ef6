package kerberos

import (
	"context"
	"errors"
	"net"
	"testing"

	krb5 "github.com/jcmturner/gokrb5/v8/config"
	"github.com/stretchr/testify/require"
)

// names is a resolver.
type names struct {
	hosts, addresses map[string]string
	srv              error // of LookupSRV, which finds nothing
}

func (n names) LookupSRV(context.Context, string, string, string) (string, []*net.SRV, error) {
	return "", nil, n.srv
}

func (n names) LookupHost(_ context.Context, host string) ([]string, error) {
	return n.look(n.hosts, host)
}

func (n names) LookupAddr(_ context.Context, address string) ([]string, error) {
	return n.look(n.addresses, address)
}

func (names) look(in map[string]string, name string) ([]string, error) {
	if found := in[name]; found != "" {
		return []string{found}, nil
	}
	return nil, errors.New("no such host")
}

func TestServerPrincipal(t *testing.T) {
	conf, err := krb5.NewFromString("[domain_realm]\n.far.example = FAR\nzk9.near.example = NINE\n")
	require.NoError(t, err)
	resolver := names{
		hosts: map[string]string{
			"10.0.0.1": "10.0.0.1", "zk1": "10.0.0.1", "ZK1": "10.0.0.1", "ZK1.Near.Example.": "10.0.0.1",
			"alias": "10.0.0.1", "alias.near.example": "10.0.0.1",
			"10.0.0.2": "10.0.0.2", "zk2": "10.0.0.2", "zk2.far.example": "10.0.0.2",
			"10.0.0.3": "10.0.0.3", "zk3": "10.0.0.3", "victim": "10.0.0.4",
			"zk5": "10.0.0.5", "fd00::1": "fd00::1", "zk6.near.example.": "fd00::1",
		},
		addresses: map[string]string{
			"10.0.0.1": "ZK1.Near.Example.", "10.0.0.2": "zk2.far.example", "10.0.0.3": "victim",
			"fd00::1": "zk6.near.example.",
		},
	}
	for _, c := range []struct {
		host   string
		config Config
		want   string
	}{
		{"zk1", Config{}, "zookeeper/zk1.near.example@HOME"},
		{"zk2", Config{}, "zookeeper/zk2.far.example@FAR"},
		{"10.0.0.1", Config{}, "zookeeper/zk1.near.example@HOME"},
		{"fd00::1", Config{}, "zookeeper/zk6.near.example@HOME"},
		{"zk3", Config{}, "zookeeper/zk3@HOME"}, // the address of the name is another one
		{"10.0.0.3", Config{}, "zookeeper/10.0.0.3@HOME"},
		{"zk5", Config{}, "zookeeper/zk5@HOME"}, // the address has no name
		{"zk9.Near.Example.", Config{}, "zookeeper/zk9.near.example@NINE"},
		{"zk1", Config{ServiceName: "zk"}, "zk/zk1.near.example@HOME"},
		{"ZK1", Config{HostNamesAsGiven: true}, "zookeeper/zk1.near.example@HOME"},
		{"alias", Config{HostNamesAsGiven: true}, "zookeeper/alias@HOME"},
		{"alias", Config{}, "zookeeper/zk1.near.example@HOME"},
		{"alias.near.example", Config{HostNamesAsGiven: true}, "zookeeper/alias.near.example@HOME"},
		{"10.0.0.1", Config{HostNamesAsGiven: true}, "zookeeper/zk1.near.example@HOME"},
	} {
		m := &Mechanism{config: c.config, krb5: conf, client: principal{"alice", "HOME"}, resolver: resolver}
		require.Equal(t, c.want, m.serverPrincipal(t.Context(), c.host).String(), "%+v", c)
	}
	m := &Mechanism{server: principal{"zookeeper/ensemble", "FAR"}}
	require.Equal(t, "zookeeper/ensemble@FAR", m.serverPrincipal(t.Context(), "zk1").String())
}
