package framework_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A server that does not know the probe says so, and may hang up then, as servers
// do with requests that they do not know.
func TestServerThatDoesNotKnowTheProbeIsAskedOnce(t *testing.T) {
	for name, hangsUp := range map[string]bool{"refuses": false, "refuses and hangs up": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				fault := zktest.Fail(zktest.ErrUnimplemented)
				if hangsUp {
					fault = zktest.All(fault, zktest.CallAfter(func(r zktest.Request) {
						go func() { time.Sleep(time.Millisecond); srv.Session(r.Session).Cut() }()
					}))
				}
				probes := srv.Inject(zktest.Rule{Op: zktest.OpRemoveWatches, Times: -1, Do: fault})
				for range 5 {
					require.True(t, framework.IsRefusal(readTwo(t, c)))
					time.Sleep(time.Minute)
					settled(t, c)
				}
				require.Equal(t, 1, probes.Hits())
			})
		})
	}
}

// A multiRead is under way when another request ends the connection.
func TestMultiReadBehindARequestThatEndsTheConnectionIsForgiven(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, readTwo(t, c))
		srv.CutAll()
		settled(t, c)
		watch := mustWatch(t, c, "/") // a proof, so that no probe is under way
		defer watch.Close()
		settled(t, c)
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.All(zktest.DelayRequest(time.Second), zktest.DropRequest())})
		done := make(chan error, 1)
		go func() { _, _, err := c.Get(t.Context(), "/"); done <- err }()
		synctest.Wait()
		require.Error(t, readTwo(t, c)) // behind the get, which the server hangs up on
		require.NoError(t, <-done)
		require.Zero(t, srv.CountRequests(zktest.OpMultiRead)-1, "the server has never seen it")
		time.Sleep(time.Hour)
		settled(t, c)
		require.NoError(t, readTwo(t, c))
	})
}
