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

// Faults hit the requests of connections that were there before them.
func TestFaultsHitOldConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c := connect(t, srv, 10*time.Second)
		_, _, err := c.Get("/")
		require.NoError(t, err)
		require.NoError(t, srv.StartFaults(zktest.ChaosPlan{
			Faults: []zktest.FaultRate{{Chance: 1, Rule: zktest.Rule{Op: zktest.OpGetData, Do: zktest.DropReply(), Times: 1}}},
		}))
		_, _, err = c.Get("/")
		require.Error(t, err)
		srv.StopFaults()
		time.Sleep(time.Minute) // the client connects again
		_, _, err = c.Get("/")
		require.NoError(t, err)
	})
}

// Faults that begin later do not take away the sessions that are there.
func TestStartFaultsKeepsSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c := connect(t, srv, 10*time.Second)
		_, _, err := c.Get("/")
		require.NoError(t, err)
		id := c.SessionID()
		require.NoError(t, srv.StartFaults(zktest.ChaosPlan{Seed: 7}))
		srv.StopFaults()
		require.True(t, srv.Session(id).Cut())
		time.Sleep(time.Minute) // the client connects again
		_, _, err = c.Get("/")
		require.NoError(t, err)
		require.Equal(t, id, c.SessionID())
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

// A disruption's end and StopFaults come at the same instant. The end happens
// once, and not after StopFaults.
func TestStopFaultsAtTheEndOfADisruption(t *testing.T) {
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			srv := zktest.Start(t)
			require.NoError(t, srv.StartFaults(zktest.ChaosPlan{
				Seed: seed, Every: time.Second, Disruptions: []zktest.Disruption{zktest.StopFor(time.Second)},
			}))
			require.NoError(t, srv.WaitFor(t.Context(), func() bool { return srv.Mode() == "stopped" }))
			require.NoError(t, srv.WaitFor(t.Context(), func() bool { return srv.Mode() != "stopped" }))
			srv.StopFaults()
			srv.Stop()
			time.Sleep(time.Minute)
			require.Equal(t, "stopped", srv.Mode())
		})
	}
}

// A member's StopFaults is its ensemble's, as its StartFaults is.
func TestStopFaultsOfAMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3)
		members := ens.Members()
		require.NoError(t, members[0].StartFaults(zktest.ChaosPlan{
			Every: time.Second, Disruptions: []zktest.Disruption{zktest.PauseFor(time.Hour)},
		}))
		time.Sleep(time.Minute)
		members[1].StopFaults()
		leader, err := ens.WaitLeader(t.Context())
		require.NoError(t, err)
		require.NotNil(t, leader)
		events := len(ens.Events())
		time.Sleep(time.Minute)
		require.Len(t, ens.Events(), events)
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

func TestPlansThatMakeNoSense(t *testing.T) {
	srv := zktest.Start(t)
	for name, plan := range map[string]zktest.ChaosPlan{
		"latency":       {Latency: zktest.Forever},
		"every":         {Every: zktest.Forever, Disruptions: []zktest.Disruption{zktest.CutSession()}},
		"negative time": {Every: time.Second, Disruptions: []zktest.Disruption{zktest.StopFor(-time.Hour)}},
	} {
		require.Error(t, srv.StartFaults(plan), name)
	}
}
