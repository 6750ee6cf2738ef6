package framework_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// The follower that we are connected to is cut off from its leader and goes on
// answering pings. The leader ends the session meanwhile. Whether we have given
// it up by then is what strict contact decides, at every phase of the
// heartbeat.
func TestStrictContactEndsTheSessionBeforeTheLeaderDoes(t *testing.T) {
	t.Parallel()
	const syncLimit = 10 // more than the session, so that the follower answers for long enough
	step := thorough.Size(1, 5)
	for _, strict := range []bool{false, true} {
		for phase := 0; phase < 20; phase += step {
			isolateFollower(t, strict, time.Duration(phase)*731*time.Millisecond, sessionTimeout,
				zkinside.With(zkinside.Settings{Tick: 2 * time.Second, SyncLimit: syncLimit}).(zktest.Option))
		}
	}
	// The leader asks for clients as seldom as it may, and ends the session as
	// soon as it can.
	for phase := 0; phase < 150; phase += step {
		isolateFollower(t, true, time.Duration(phase)*97*time.Millisecond, 9900*time.Millisecond,
			zkinside.With(zkinside.Settings{Tick: 4 * time.Second, SyncLimit: syncLimit}).(zktest.Option))
	}
}

func isolateFollower(t *testing.T, strict bool, phase, timeout time.Duration, ensemble ...zktest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3, ensemble...)
		follower := ens.Followers()[0]
		opts := []framework.Option{framework.WithDialer(ens.Dialer()), framework.WithSessionTimeout(timeout)}
		if strict {
			opts = append(opts, framework.WithStrictContact(), framework.WithSafetyMargin(0))
		}
		c, err := framework.New(follower.Addr(), opts...)
		require.NoError(t, err)
		defer c.Close()
		n := mustCreate(t, c, "/n", "", framework.WithMode(framework.Ephemeral))
		leader, err := framework.New(ens.Leader().Addr(), framework.WithDialer(ens.Dialer()))
		require.NoError(t, err)
		defer leader.Close()
		time.Sleep(time.Minute + phase)
		require.NoError(t, n.Session.Context().Err(), "a healthy session lives")

		cut := time.Now()
		ens.Partition(follower)
		there, _, gone, err := leader.ExistsW(t.Context(), "/n")
		require.NoError(t, err)
		require.True(t, there)
		<-gone.Done()
		given := time.Since(cut)
		<-n.Session.Context().Done()
		ended := time.Since(cut)
		if strict {
			require.Zero(t, ended-given, "not given up at %v, when the leader gave the node away", given)
		} else {
			require.Positive(t, ended-given, "then strict contact is for nothing")
		}
	})
}

// A request may be refused by a server that has too much to do.
func TestStrictContactSurvivesRequestsThatAreRefused(t *testing.T) {
	for _, op := range []zktest.Op{zktest.OpSync, zktest.OpMulti} {
		serverOnly(t, func(t *testing.T, srv *zktest.Server) {
			c := newClient(t, srv, framework.WithStrictContact())
			s, err := c.Session(t.Context())
			require.NoError(t, err)
			for i := range 20 {
				srv.Inject(zktest.Rule{Optional: true, Op: op, After: i % 3, Times: 12, Do: zktest.Fail(zkinside.ErrThrottled)})
				time.Sleep(time.Minute)
				require.NoError(t, s.Context().Err())
			}
		})
	}
}
