package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// The session timeout is known without a connection, and at once: the end of the
// command waits for nothing more than the answer that it has asked for.
func TestTheSessionTimeoutIsKnownInAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c := curatortest.Connect(t, srv, framework.WithSessionTimeout(40*time.Second))
		g := &guarded{client: c}
		require.Equal(t, 40*time.Second, g.session().Timeout)
		srv.RefuseConnections(true)
		srv.CutAll()
		synctest.Wait()
		require.False(t, c.State().IsConnected())
		begin := time.Now()
		require.Equal(t, 40*time.Second, g.session().Timeout)
		require.Zero(t, time.Since(begin))
		time.Sleep(41 * time.Second)
		require.Zero(t, g.session(), "the session is over")
	})
}
