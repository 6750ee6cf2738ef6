//go:build real

package caddystorage

import (
	"fmt"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// Caddy loads its configuration, and stores in ZooKeeper what nobody else may
// read. A lock that is held survives a reload, and the client ends with Caddy.
func TestCaddyStoresInZooKeeper(t *testing.T) {
	srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
	t.Setenv("ZOOKEEPER_AUTH", "caddy:secret")
	load := func(level string) {
		t.Helper()
		require.NoError(t, caddy.Load(fmt.Appendf(nil, `{
			"admin": {"disabled": true, "config": {"persist": false}},
			"storage": {"module": "curator", "servers": %q, "auth": "{env.ZOOKEEPER_AUTH}"},
			"apps": {}, "logging": {"logs": {"default": {"level": %q}}}
		}`, srv.Addr(), level), true))
	}
	load("ERROR")
	ctx := t.Context()
	storage := caddy.ActiveContext().Storage()
	require.NoError(t, storage.Lock(ctx, "issue_cert_example.com"))
	require.NoError(t, storage.Store(ctx, "certificates/a/example.com/example.com.key", []byte("secret")))
	node, ok := srv.Node("/caddy/keys/certificates/a/example.com/example.com.key")
	require.True(t, ok)
	closed := zk.DigestACL(zk.PermAll, "caddy", "secret")[0]
	require.Equal(t, []zktest.ACL{zktest.ACL(closed)}, node.ACL)

	load("WARN")
	storage = caddy.ActiveContext().Storage()
	value, err := storage.Load(ctx, "certificates/a/example.com/example.com.key")
	require.NoError(t, err)
	require.Equal(t, "secret", string(value))
	require.NoError(t, storage.Unlock(ctx, "issue_cert_example.com"))
	require.Len(t, srv.Sessions(), 1)
	require.NoError(t, caddy.Stop())
	require.Empty(t, srv.Sessions())
}
