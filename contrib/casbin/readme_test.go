package zkwatcher_test

import (
	"context"
	"os"
	"testing"

	"github.com/casbin/casbin/v3"
	"github.com/casbin/casbin/v3/persist"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"

	zkwatcher "github.com/gocurator/curator/contrib/casbin"
)

// enforce is what README tells people to write.
func enforce(client *framework.Client, adapter persist.Adapter, serve func(*casbin.SyncedEnforcer, *zkwatcher.Watcher) error) error {
	enforcer, err := casbin.NewSyncedEnforcer("model.conf", adapter)
	if err != nil {
		return err
	}
	watcher, err := zkwatcher.New(client, "/casbin/policy", enforcer.LoadPolicy)
	if err != nil {
		return err
	}
	defer watcher.Close()
	if err := enforcer.SetWatcher(watcher); err != nil {
		return err
	}
	return serve(enforcer, watcher)
}

// until is the other half.
func until(ctx context.Context, watcher *zkwatcher.Watcher) error {
	select {
	case <-ctx.Done():
		return nil
	case <-watcher.Done():
		return watcher.Err()
	}
}

// cachedLoad is what README gives to an enforcer that caches decisions.
func cachedLoad(enforcer *casbin.SyncedCachedEnforcer) func() error {
	load := func() error {
		if err := enforcer.LoadPolicy(); err != nil {
			return err
		}
		return enforcer.InvalidateCache() // what was decided during the load
	}
	return load
}

func TestCodeOfTheReadme(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("model.conf", []byte(accessModel), 0o600))
	srv := zktest.Start(t)
	client := curatortest.Connect(t, srv)
	require.NoError(t, enforce(client, &table{}, func(e *casbin.SyncedEnforcer, w *zkwatcher.Watcher) error {
		added, err := e.AddPolicy("alice", "report", "read")
		require.True(t, added)
		require.NoError(t, err)
		w.Close()
		require.ErrorIs(t, until(t.Context(), w), shared.ErrClosed)
		return nil
	}))
}
