package framework_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// An event shows the order of changes only if the server has sent the event unasked, on
// the connection on which the watch was set.
//
// Promise: An event after a reconnect is not taken to be in order.
func TestEventIsInOrder(t *testing.T) {
	set := func(t *testing.T, srv *zktest.Server) { require.NoError(t, srv.Set("/n", nil)) }
	for name, tc := range map[string]struct {
		change func(t *testing.T, srv *zktest.Server, c *framework.Client)
		want   bool
	}{
		"at once": {func(t *testing.T, srv *zktest.Server, _ *framework.Client) { set(t, srv) }, true},
		"behind a look at the watch": {func(t *testing.T, srv *zktest.Server, _ *framework.Client) {
			time.Sleep(time.Hour)
			require.NotZero(t, srv.CountRequests(zkinside.OpSetWatches))
			set(t, srv)
		}, true},
		"by a look at the watch": {func(t *testing.T, srv *zktest.Server, _ *framework.Client) {
			inSilence(t, srv, "/n", func() { set(t, srv) })
		}, false},
		"by a reconnect": {func(t *testing.T, srv *zktest.Server, _ *framework.Client) {
			srv.RefuseConnections(true)
			srv.CutAll()
			synctest.Wait()
			set(t, srv)
			srv.RefuseConnections(false)
		}, false},
		"behind a reconnect": {func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			srv.CutAll()
			synctest.Wait()
			require.NoError(t, c.WaitConnected(t.Context()))
			time.Sleep(time.Second)
			set(t, srv)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				require.NoError(t, srv.Create("/n", nil))
				_, _, w, err := c.GetW(t.Context(), "/n")
				require.NoError(t, err)
				tc.change(t, srv, c)
				_, err = w.Wait(within(t, time.Hour))
				require.NoError(t, err)
				require.Equal(t, tc.want, w.InOrder())
			})
		})
	}
}

// A machine sleeps, and wakes up with an event that came before. The session's
// time is over, which the client has not noticed yet.
//
// Promise: An event that arrives after the end of its session is not taken to be in order.
func TestEventThatIsSeenTooLateIsNotInOrder(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, machine := onAMachine(t, srv)
		require.NoError(t, srv.Create("/n", nil))
		_, _, w, err := c.GetW(t.Context(), "/n")
		require.NoError(t, err)
		require.NoError(t, srv.Set("/n", nil))
		<-w.Done()
		require.True(t, w.InOrder())
		suspend(t, machine, time.Hour)
		require.False(t, w.InOrder())
	})
}
