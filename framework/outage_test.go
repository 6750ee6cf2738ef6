package framework_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// State changes do not say why no server can be reached. A line does, once for
// each outage that lasts.
func TestOutageThatLastsIsToldToTheLogOnce(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		j := &journal{}
		c := newClient(t, srv, j.option())
		require.NoError(t, c.WaitConnected(t.Context()))
		outages := func() (lines []string) {
			synctest.Wait() // the log has a goroutine of its own
			for _, line := range j.warnings() {
				if strings.HasPrefix(line, "zookeeper servers cannot be reached") {
					lines = append(lines, line)
				}
			}
			return lines
		}
		for n := range 2 {
			srv.Stop()
			time.Sleep(sessionTimeout / 2)
			require.Len(t, outages(), n, "it may be short")
			time.Sleep(10 * sessionTimeout)
			require.Len(t, outages(), n+1)
			require.Contains(t, outages()[n], "connection refused")
			srv.Restart()
			require.NoError(t, c.WaitConnected(t.Context()))
		}
		srv.Stop()
		time.Sleep(sessionTimeout / 2)
		srv.Restart()
		require.NoError(t, c.WaitConnected(t.Context()))
		time.Sleep(10 * sessionTimeout)
		require.Len(t, outages(), 2)
	})
}
