//go:build real

package framework_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/zkserver"
)

// identified returns a client that says who it is, or does not if login is
// empty.
func identified(t *testing.T, srv *zkserver.Server, login string, opts ...framework.Option) *framework.Client {
	t.Helper()
	if login != "" {
		opts = append(opts, framework.WithAuth("digest", []byte(login)))
	}
	opts = append([]framework.Option{framework.WithSessionTimeout(30 * time.Second), framework.WithDialer(dialImpatiently)}, opts...)
	c, err := framework.New(srv.Addr()+chroot(t), opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// everyACL are the ways to keep a node to oneself: by any identity of the
// client, and by name.
func everyACL() map[string][]zk.ACL {
	return map[string][]zk.ACL{
		"/auth":   zk.AuthACL(zk.PermAll),
		"/digest": zk.DigestACL(zk.PermAll, "owner", "secret"),
	}
}

func TestRealServerDeniesStrangers(t *testing.T) {
	t.Parallel()
	srv := borrowServer(t)
	requireNoWatches(t, srv)
	owner := identified(t, srv, "owner:secret")
	ctx := within(t, stuck)
	for path, acl := range everyACL() {
		_, err := owner.Create(ctx, path, []byte("mine"), framework.WithACL(acl))
		require.NoError(t, err, path)
	}
	twin := identified(t, srv, "owner:secret")
	for path := range everyACL() {
		data, _, err := twin.Get(ctx, path)
		require.NoError(t, err, path)
		require.Equal(t, "mine", string(data))
	}
	for _, login := range []string{"", "owner:wrong", "other:secret"} {
		var count attemptCount
		stranger := identified(t, srv, login, framework.WithHooks(&count))
		for path := range everyACL() {
			_, _, err := stranger.Get(ctx, path)
			requireDenied(t, err)
			_, _, _, err = stranger.GetW(ctx, path)
			requireDenied(t, err)
			_, _, err = stranger.Children(ctx, path)
			requireDenied(t, err)
			_, _, _, err = stranger.ChildrenW(ctx, path)
			requireDenied(t, err)
			_, err = stranger.Set(ctx, path, nil, framework.AnyVersion)
			requireDenied(t, err)
			_, err = stranger.Create(ctx, path+"/n", nil, framework.WithProtection())
			requireDenied(t, err)
		}
		require.Equal(t, attemptCount{12, 12}, count, "a denial is final")
	}
	n, err := srv.WatchCount(ctx)
	require.NoError(t, err)
	require.Zero(t, n, "a denied read sets no watch")
}

// attemptCount is a hook that counts operations, and the attempts of all of them.
type attemptCount struct{ operations, attempts int }

func (c *attemptCount) EndOperation(_ context.Context, end clienttrace.OperationEnd) {
	c.operations++
	c.attempts += end.Attempts
}

func requireDenied(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, zk.ErrNoAuth)
	var op *framework.OpError
	require.ErrorAs(t, err, &op)
}

func TestRealServerCredentialsOutliveReconnectAndSession(t *testing.T) {
	t.Parallel()
	srv := borrowServer(t)
	c := identified(t, srv, "owner:secret", shortSessionOptions()...)
	ctx := within(t, stuck)
	_, err := c.Create(ctx, "/auth", nil, framework.WithACL(zk.AuthACL(zk.PermAll)))
	require.NoError(t, err)

	require.NoError(t, srv.Restart())
	_, _, err = c.Get(ctx, "/auth")
	require.NoError(t, err, "after a reconnect")

	session, err := c.Session(ctx)
	require.NoError(t, err)
	require.NoError(t, srv.Pause())
	requireLost(t, session, shortSession)
	require.NoError(t, srv.Resume())
	_, _, err = c.Get(ctx, "/auth")
	require.NoError(t, err, "in a new session")
	require.NotEqual(t, session.ID(), c.SessionID())
	_, err = c.Create(ctx, "/again", nil, framework.WithACL(zk.AuthACL(zk.PermAll)))
	require.NoError(t, err)
}
