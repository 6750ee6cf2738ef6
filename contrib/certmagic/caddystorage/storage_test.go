package caddystorage

import (
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

func TestCaddyfile(t *testing.T) {
	var s Storage
	require.NoError(t, s.UnmarshalCaddyfile(caddyfile.NewTestDispenser(`curator {
		servers zk1:2181,zk2:2181
		root /certs
		auth caddy:secret
		tls
	}`)))
	require.Equal(t, Storage{Servers: "zk1:2181,zk2:2181", Root: "/certs", Auth: "caddy:secret", TLS: true}, s)
	for text, says := range map[string]string{
		"curator {\nsever a:1\n}":        "unrecognized parameter",
		"curator {\nservers\n}":          "wrong argument count",
		"curator zk1:2181":               "wrong argument count",
		"curator zk1:2181 {\nroot /c\n}": "wrong argument count",
	} {
		require.ErrorContains(t, s.UnmarshalCaddyfile(caddyfile.NewTestDispenser(text)), says)
	}
}

// Without credentials, everybody could read the private keys.
func TestConfigurationsThatAreRefused(t *testing.T) {
	s := &Storage{Servers: "127.0.0.1:1", Auth: "{env.NO_SUCH_VARIABLE}"}
	require.ErrorContains(t, s.Provision(caddy.Context{}), "auth is missing")
	require.NoError(t, s.Cleanup())
	s = &Storage{Servers: "127.0.0.1:1:1", Auth: "caddy:secret"}
	require.ErrorAs(t, s.Provision(caddy.Context{}), new(*framework.ConfigError))
	require.NoError(t, s.Cleanup())
}
