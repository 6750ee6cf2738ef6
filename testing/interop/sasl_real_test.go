//go:build real

package interop_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/locks"
)

// The server requires SASL, and nobody but joe may see the lock. Both clients
// authenticate as joe and make nodes for joe alone.
//
// Promise: Java and Go share a lock under an access control list of the scheme sasl.
func TestLockUnderASASLACLIsShared(t *testing.T) {
	t.Parallel()
	srv := zkserver.Start(t, zkserver.WithSASLUsers(t, map[string]string{"joe": "open sesame", "sue": "secret"}),
		zkserver.WithJVMFlags("-Dzookeeper.enforce.auth.enabled=true", "-Dzookeeper.enforce.auth.schemes=sasl"))
	onlyJoe := []zk.ACL{{Perms: zk.PermAll, Scheme: "sasl", ID: "joe"}}
	connect := func(user, password string) *framework.Client {
		c, err := framework.Connect(withDeadline(t), srv.Addr(), framework.WithSessionTimeout(longSession),
			framework.WithSASL(sasl.DigestMD5(user, password)),
			framework.WithACLProvider(func(string) []zk.ACL { return onlyJoe }))
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		return c
	}
	jaas := filepath.Join(t.TempDir(), "jaas")
	require.NoError(t, os.WriteFile(jaas, []byte(`Client {
		org.apache.zookeeper.server.auth.DigestLoginModule required username="joe" password="open sesame";
	};`), 0o600))
	java := startProcessWith(t, append([]string{"-Djava.security.auth.login.config=" + jaas, "-Dpeer.private=true"}, fastStartFlags...),
		srv.Addr(), longSession)
	c, stranger := connect("joe", "open sesame"), connect("sue", "secret")

	lock := lockPath(t)
	both := []contender{goContender{client: c}, javaContender{peer: java, name: "thread"}}
	for i := range 4 {
		holder, other := both[i%2], both[(i+1)%2]
		g, err := holder.acquire(lock, waitLimit)
		require.NoError(t, err)
		acl, _, err := c.GetACL(withDeadline(t), g.node)
		require.NoError(t, err)
		require.Equal(t, onlyJoe, acl)
		_, err = other.acquire(lock, time.Second)
		require.Error(t, err, "the lock is held")
		_, err = locks.NewInterProcessMutex(stranger, lock).Acquire(context.Background())
		require.ErrorIs(t, err, zk.ErrNoAuth)
		require.NoError(t, g.release())
	}
}
