package framework

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// A persistent watch comes to a watch's path when a look has begun. So that look
// does not ask about it, and the next one knows of a change before this one.
func TestLookLeavesAWatchAsItWasThatItDidNotAskAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c, err := New(srv.Addr(), WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, srv.Create("/n", nil))
		_, _, w, err := c.GetW(t.Context(), "/n")
		require.NoError(t, err)
		_, _, _, err = c.GetW(t.Context(), "/") // as of the same transaction
		require.NoError(t, err)
		all := c.session.watches
		all.due()
		due, _ := all.due()
		require.Len(t, due, 1)
		require.Len(t, due[0], 2)

		persistent, err := c.NewWatcher(t.Context(), "/n")
		require.NoError(t, err)
		defer persistent.Close()
		_, err = c.SetACL(t.Context(), "/n", zk.DigestACL(zk.PermAll, "u", "p"), AnyVersion)
		require.NoError(t, err)
		require.NoError(t, srv.Set("/n", nil)) // which nobody is told of
		require.NoError(t, c.AddAuth(t.Context(), "digest", []byte("u:p")))
		require.NoError(t, c.Sync(t.Context(), "/"))
		all.ask(due, all.session.link.LastZxid())

		time.Sleep(5 * time.Minute)
		select {
		case <-w.Done():
		default:
			require.Fail(t, "the change was lost")
		}
	})
}
