package framework_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A listing stays current until its watch fires, or can tell no more.
func TestSiblingsThatAreStillCurrent(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(t *testing.T, srv *zktest.Server, c *framework.Client, w *framework.Watch)
		want   bool
	}{
		"nothing": {func(*testing.T, *zktest.Server, *framework.Client, *framework.Watch) {}, true},
		"data of a child": {func(t *testing.T, srv *zktest.Server, _ *framework.Client, _ *framework.Watch) {
			require.NoError(t, srv.Set("/p/a", nil))
		}, true},
		"a new child": {func(t *testing.T, srv *zktest.Server, _ *framework.Client, _ *framework.Watch) {
			require.NoError(t, srv.Create("/p/b", nil))
		}, false},
		"a child that goes": {func(t *testing.T, srv *zktest.Server, _ *framework.Client, _ *framework.Watch) {
			require.NoError(t, srv.Delete("/p/a"))
		}, false},
		"a reconnect": {func(t *testing.T, srv *zktest.Server, c *framework.Client, _ *framework.Watch) {
			srv.CutAll()
			synctest.Wait()
			require.NoError(t, c.WaitConnected(t.Context()))
			time.Sleep(time.Second)
		}, false},
		"a change that comes with the sync": {func(_ *testing.T, srv *zktest.Server, _ *framework.Client, _ *framework.Watch) {
			srv.Inject(zktest.Rule{Op: zktest.OpSync, Do: zktest.Call(func(zktest.Request) { _ = srv.Delete("/p/a") })})
		}, false},
		"a sync that is lost": {func(_ *testing.T, srv *zktest.Server, _ *framework.Client, _ *framework.Watch) {
			srv.Inject(zktest.Rule{Op: zktest.OpSync, Do: zktest.DropReply()})
		}, false},
		"a watch that was stopped": {func(_ *testing.T, _ *zktest.Server, _ *framework.Client, w *framework.Watch) { w.Stop() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				for _, path := range []string{"/p", "/p/a"} {
					require.NoError(t, srv.Create(path, nil))
				}
				e := framework.Extend(c)
				names, stat, w, err := e.CurrentSiblingsW(within(t, time.Minute), "/p")
				require.NoError(t, err)
				defer w.Stop()
				require.Equal(t, []string{"a"}, names)
				require.EqualValues(t, 1, stat.NumChildren)
				srv.ClearRequests()
				tc.change(t, srv, c, w)
				current, err := e.IsCurrent(t.Context(), w)
				require.NoError(t, err)
				require.Equal(t, tc.want, current)
				require.Zero(t, srv.CountRequests(zktest.OpGetChildren2))
			})
		})
	}
}

// A listing that fails leaves no watch.
func TestCurrentSiblingsThatCannotBeHadLeaveNoWatch(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, srv.Create("/p", nil))
		for _, op := range []zktest.Op{zktest.OpSync, zktest.OpGetChildren2} {
			srv.Inject(zktest.Rule{Op: op, Do: zktest.Fail(zktest.ErrNoAuth)})
			_, _, w, err := framework.Extend(c).CurrentSiblingsW(t.Context(), "/p")
			require.Error(t, err)
			require.Nil(t, w)
			synctest.Wait()
			require.Zero(t, srv.Session(c.SessionID()).Watches())
		}
	})
}
