package zktest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
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
		require.Empty(t, eventsOf(srv))

		for range 2 {
			require.NoError(t, zkinside.Of(srv).StartFaults(plan(zktest.Disruption{Kind: "stop", For: 10 * time.Second})))
			require.ErrorContains(t, zkinside.Of(srv).StartFaults(plan(zktest.Disruption{Kind: "cut"})), "at work already")
			require.NoError(t, srv.WaitFor(t.Context(), func() bool { return srv.Stats().Mode == "stopped" }))
			srv.StopFaults()
			require.Equal(t, "standalone", srv.Stats().Mode)
			events := len(eventsOf(srv))
			require.NotZero(t, events)
			time.Sleep(time.Minute)
			require.Len(t, eventsOf(srv), events)
		}
		require.ErrorContains(t, zkinside.Of(srv).StartFaults(plan(zktest.Disruption{Kind: "resign"})), "needs an ensemble")
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
		require.NoError(t, zkinside.Of(srv).StartFaults(zktest.ChaosPlan{Latency: time.Second}))
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

// eventsOf returns what the last chaos plan has done.
func eventsOf(srv *zktest.Server) (events []string) {
	for _, what := range zkinside.Of(srv).Events {
		events = append(events, what)
	}
	return events
}
