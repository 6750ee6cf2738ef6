//go:build real

package zktest_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// Outside of a bubble it takes the time that it takes.
func TestHostLosesItsSessionInRealTime(t *testing.T) {
	t.Parallel()
	srv := zktest.Start(t)
	host := srv.NewHost()
	c := connectVia(t, srv, zkDialer(host.Dialer()), 3*time.Second)
	old := c.SessionID()
	start := time.Now()
	require.True(t, host.LoseSessions())
	c.await(t, zk.StateExpired)
	require.Greater(t, time.Since(start), time.Second, "the client was heard of a second ago at the earliest")
	c.await(t, zk.StateHasSession)
	require.NotEqual(t, old, c.SessionID())
}
