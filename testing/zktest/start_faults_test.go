package zktest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// Faults may begin and end while the server runs, and again.
func TestFaultsStartAndStop(t *testing.T) {
	plan := func(d ...zktest.Disruption) zktest.ChaosPlan {
		return zktest.ChaosPlan{Seed: 7, Every: time.Second, Disruptions: d}
	}
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		connect(t, srv, 10*time.Second)
		time.Sleep(time.Minute)
		require.Empty(t, srv.Events())

		for range 2 {
			require.NoError(t, srv.StartFaults(plan(zktest.StopFor(10*time.Second))))
			require.ErrorContains(t, srv.StartFaults(plan(zktest.CutSession())), "at work already")
			require.NoError(t, srv.WaitFor(t.Context(), func() bool { return srv.Mode() == "stopped" }))
			srv.StopFaults()
			require.Equal(t, "standalone", srv.Mode())
			events := len(srv.Events())
			require.NotZero(t, events)
			time.Sleep(time.Minute)
			require.Len(t, srv.Events(), events)
		}
		require.ErrorContains(t, srv.StartFaults(plan(zktest.ResignLeader())), "needs an ensemble")
	})
}

// The latency of StartFaults ends with StopFaults.
func TestLatencyEndsWithStopFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c := connect(t, srv, 10*time.Second)
		took := func() time.Duration {
			begin := time.Now()
			for range 10 {
				_, _, err := c.Get("/")
				require.NoError(t, err)
			}
			return time.Since(begin)
		}
		took() // connects
		require.Zero(t, took())
		require.NoError(t, srv.StartFaults(zktest.ChaosPlan{Latency: time.Second}))
		require.NotZero(t, took())
		srv.StopFaults()
		require.Zero(t, took())
	})
}

// A process that comes up again is not paused any more.
func TestRestartEndsAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c := connect(t, srv, 10*time.Second)
		srv.Pause()
		srv.Stop()
		srv.Restart()
		time.Sleep(time.Minute) // the client connects again
		_, _, err := c.Get("/")
		require.NoError(t, err)
	})
}
