package nodes

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// A look is of now until something happens to the node or to the connection, and
// also when the life has ended.
func TestLookIsOfNowUntilTheNodeChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		require.NoError(t, srv.Create("/a", nil))
		c := curatortest.Connect(t, srv)
		n := newNode(c, "/a", nil, newConfig(nil))
		k := newKeeper(n, nil)
		session, err := c.Session(t.Context())
		require.NoError(t, err)
		k.node, k.session = "/a", session
		for name, change := range map[string]func(){
			"data":         func() { require.NoError(t, srv.Set("/a", []byte("x"))) },
			"another node": func() { require.NoError(t, srv.Delete("/a")); require.NoError(t, srv.Create("/a", nil)) },
			"interruption": srv.CutAll,
		} {
			life, end := context.WithCancel(t.Context())
			there, stat, seen, err := k.lookW(life)
			require.NoError(t, err)
			require.True(t, there)
			require.Equal(t, stat.Version, seen.version)
			end()
			synctest.Wait()
			require.True(t, seen.isOfNow())
			change()
			synctest.Wait()
			require.False(t, seen.isOfNow(), name)
			seen.stop()
			require.NoError(t, c.Sync(t.Context(), "/"))
			synctest.Wait()
			require.Empty(t, srv.Watches())
		}
		require.False(t, (*look)(nil).isOfNow())
		over, end := context.WithCancel(t.Context())
		end()
		_, _, _, err = k.lookW(over)
		require.True(t, reason.IsOfContext(over, err))
	})
}
