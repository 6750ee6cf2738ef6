package framework_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// untold is how long the client takes to notice a change that no server has reported.
const untold = 5 * time.Minute

// inSilence makes changes while only the administrator may read a node. The
// servers tell nobody else of them.
func inSilence(t *testing.T, srv *zktest.Server, path string, change func()) {
	t.Helper()
	admin := newClient(t, srv, framework.WithAuth("digest", []byte("admin:a")))
	setACL := func(acl []zk.ACL) {
		_, err := admin.SetACL(t.Context(), path, acl, framework.AnyVersion)
		require.NoError(t, err)
	}
	setACL(zk.DigestACL(zk.PermAll, "admin", "a"))
	change()
	if _, there := srv.Node(path); there {
		setACL(zk.WorldACL(zk.PermAll))
	}
	require.NoError(t, admin.Close())
}

// Promise: A change that the server did not report is noticed within minutes.
func TestChangeThatWasNotToldIsNoticed(t *testing.T) {
	set := func(srv *zktest.Server) error { return srv.Set("/n", nil) }
	addChild := func(srv *zktest.Server) error { return srv.Create("/n/c", nil) }
	remove := func(srv *zktest.Server) error { return srv.Delete("/n") }
	for _, tc := range []struct {
		name, kind string
		change     func(*zktest.Server) error
		want       zk.EventType
	}{
		{"data, set", "data", set, zk.EventNodeDataChanged},
		{"data, deleted", "data", remove, zk.EventNodeDeleted},
		{"exists, set", "exists", set, zk.EventNodeDataChanged},
		{"exists, deleted", "exists", remove, zk.EventNodeDeleted},
		{"children, a new one", "children", addChild, zk.EventNodeChildrenChanged},
		{"children, deleted", "children", remove, zk.EventNodeDeleted},
	} {
		t.Run(tc.name, func(t *testing.T) {
			eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				require.NoError(t, srv.Create("/n", nil))
				w, err := watchKinds(c)[tc.kind](t.Context(), "/n")
				require.NoError(t, err)
				inSilence(t, srv, "/n", func() { require.NoError(t, tc.change(srv)) })
				require.False(t, fired(w), "the server tells of it")
				ev, err := w.Wait(within(t, untold))
				require.NoError(t, err)
				require.Equal(t, zk.Event{Type: tc.want, State: zk.StateSyncConnected, Path: "/n"}, ev)
			})
		})
	}
}

// The node is created and deleted again, and may not be read meanwhile. Nothing
// has changed in the end, but the watch for its creation was used up.
func TestWatchThatWasUsedUpInSilenceIsSetAgain(t *testing.T) {
	eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		_, _, w, err := c.ExistsW(t.Context(), "/n")
		require.NoError(t, err)
		admin := newClient(t, srv, framework.WithAuth("digest", []byte("admin:a")))
		mustCreate(t, admin, "/n", "", framework.WithACL(zk.DigestACL(zk.PermAll, "admin", "a")))
		require.NoError(t, admin.Delete(t.Context(), "/n", framework.AnyVersion))
		require.Empty(t, srv.Watches())
		time.Sleep(untold)
		require.False(t, fired(w))
		require.True(t, slices.ContainsFunc(srv.Watches(), func(w zktest.Watch) bool { return w.Path == "/n" }))
		require.NoError(t, srv.Create("/n", nil))
		require.True(t, fired(w))
	})
}

// Each watch is as of another transaction. The first check of a watch takes a separate
// request. After that, all watches share one request.
func TestManyWatchesAreLookedAtWithOneRequest(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		const many = 200
		watch := func(path string) *framework.Watch {
			_, _, w, err := c.ExistsW(t.Context(), path)
			require.NoError(t, err)
			return w
		}
		var all []*framework.Watch
		for i := range many {
			path := fmt.Sprintf("/n%d", i)
			mustCreate(t, c, path, "")
			all = append(all, watch(path))
		}
		time.Sleep(untold)
		require.Equal(t, many, srv.CountRequests(zkinside.OpSetWatches))
		srv.ClearRequests()
		for range 60 {
			time.Sleep(time.Minute)
			require.NoError(t, srv.Create("/other", nil)) // the answers have other transactions
			require.NoError(t, srv.Delete("/other"))
		}
		require.InDelta(t, 27, srv.CountRequests(zkinside.OpSetWatches), 3)
		for _, w := range all {
			require.False(t, fired(w))
		}
		require.Len(t, srv.Watches(), many)
		for _, w := range all {
			w.Stop()
		}
		synctest.Wait()
		require.Empty(t, srv.Watches())
	})
}

// A look compares with what the reader of the node has seen, and not with what
// another watch knows.
func TestLookTellsOfNoChangeFromBeforeTheWatch(t *testing.T) {
	for kind := range watchKinds(nil) {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			require.NoError(t, srv.Create("/old", nil))
			old, err := watchKinds(c)[kind](t.Context(), "/old")
			require.NoError(t, err)
			mustCreate(t, c, "/n", "")
			mustCreate(t, c, "/n/c", "")
			w, err := watchKinds(c)[kind](t.Context(), "/n")
			require.NoError(t, err)
			time.Sleep(time.Hour)
			require.False(t, fired(w), kind)
			require.False(t, fired(old), kind)
		})
	}
}
