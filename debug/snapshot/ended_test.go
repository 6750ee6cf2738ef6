package snapshot_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/debug/snapshot"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// refuse has the server refuse a kind of request from now on.
func refuse(srv *zktest.Server, op zktest.Op) {
	srv.Inject(zktest.Rule{Op: op, Times: -1, Do: zktest.Fail(zktest.ErrNoAuth)})
}

func exists(srv *zktest.Server, path string) bool {
	_, there := srv.Node(path)
	return there
}

// asText returns the text of a client's snapshot.
func asText(t *testing.T, c *framework.Client) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, snapshot.Of(c).WriteText(&b))
	return b.String()
}

// endedCache returns a cache of /rates that has ended by itself.
func endedCache(t *testing.T, srv *zktest.Server, c *framework.Client) *cache.Cache {
	t.Helper()
	require.NoError(t, srv.Create("/rates/eur", nil))
	rates, err := cache.New(c, "/rates", cache.WithFilter(func(string) bool { runtime.Goexit(); return false }))
	require.NoError(t, err)
	<-rates.Done()
	return rates
}

// What an operator looks for is what does not work any more.
func TestCachesThatHaveEndedByThemselvesAreKept(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, _ *zktest.Host, c *framework.Client) {
		rates := endedCache(t, srv, c)
		time.Sleep(time.Minute)
		caches := one(t, c).Caches
		require.Equal(t, 1, caches.Total)
		require.Equal(t, "/rates", caches.Items[0].Root)
		require.Contains(t, caches.Items[0].Error, "has ended its goroutine")
		require.Equal(t, time.Minute, time.Since(caches.Items[0].Ended))
		require.Contains(t, asText(t, c), "ENDED 1m ago: cache of")

		require.NoError(t, rates.Close())
		require.Equal(t, 1, one(t, c).Caches.Total, "a Close that comes later cures nothing")
		require.NoError(t, c.Close())
		require.Zero(t, one(t, c).Caches.Total)
	})
}

func TestRegistrationsThatHaveEndedByThemselvesAreKept(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, _ *zktest.Host, c *framework.Client) {
		healthy, err := nodes.NewPersistentNode(c, "/a", nil)
		require.NoError(t, err)
		_, err = healthy.WaitRegistered(t.Context())
		require.NoError(t, err)
		refuse(srv, zktest.OpCreate)
		n, err := nodes.NewPersistentNode(c, "/n", nil)
		require.NoError(t, err)
		<-n.Done()
		time.Sleep(time.Minute)
		all := one(t, c).Registrations
		require.Equal(t, 2, all.Total)
		ended := all.Items[0]
		require.Equal(t, "/n", ended.Path, "what has ended is first")
		require.Contains(t, ended.Trouble, "not authenticated")
		require.Equal(t, time.Minute, time.Since(ended.Ended))
		require.False(t, ended.Registered)
		require.False(t, ended.Deleting)
		require.Contains(t, asText(t, c), "ENDED 1m ago, ")
		require.True(t, all.Items[1].Registered)
	})
}

// In an outage, nobody knows whether the node of a registration that was closed
// is still there.
func TestTheNodeOfARegistrationMayOutliveIt(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, host *zktest.Host, c *framework.Client) {
		n, err := nodes.NewPersistentNode(c, "/a", nil)
		require.NoError(t, err)
		_, err = n.WaitRegistered(t.Context())
		require.NoError(t, err)
		host.Isolate()
		host.Disconnect()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, n.Shutdown(ctx), context.DeadlineExceeded)
		left := one(t, c).Registrations.Items[0]
		require.True(t, left.Deleting)
		require.False(t, left.Registered)
		require.Equal(t, "/a", left.Node)
		require.True(t, exists(srv, "/a"))
		require.Contains(t, asText(t, c), "may exist")
		require.NotContains(t, asText(t, c), "NOT registered")

		host.Heal()
		require.NoError(t, n.Shutdown(t.Context()))
		require.False(t, exists(srv, "/a"))
		require.Zero(t, one(t, c).Registrations.Total)
	})
}

// A release does not wait for a connection. Its event says what is left.
func TestTheNodeOfALockMayOutliveTheRelease(t *testing.T) {
	for name, tt := range map[string]struct {
		trouble func(srv *zktest.Server, host *zktest.Host)
		left    string
	}{
		"none": {func(*zktest.Server, *zktest.Host) {}, "held for 0s"},
		"outage": {func(_ *zktest.Server, host *zktest.Host) {
			host.Isolate()
			host.Disconnect()
			synctest.Wait()
		}, "held for 0s, the node may exist until the client has deleted it, or the session ends"},
		"refusal": {func(srv *zktest.Server, _ *zktest.Host) { refuse(srv, zktest.OpDelete) },
			"held for 0s, the node stays while the session lives"},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, srv *zktest.Server, host *zktest.Host, c *framework.Client) {
				lease, err := locks.NewInterProcessMutex(c, "/lock").Acquire(t.Context())
				require.NoError(t, err)
				tt.trouble(srv, host)
				lease.Release(t.Context())
				var released snapshot.Event
				for _, e := range one(t, c).Events {
					if e.Kind == "released" {
						released = e
					}
				}
				require.Equal(t, tt.left, released.Text)
				require.Equal(t, name != "none", exists(srv, lease.Path()))
				require.Equal(t, name != "none", released.Trouble)
			})
		})
	}
}
