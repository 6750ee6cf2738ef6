package zktest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// A handle on a session that does not exist does nothing, and says so.
func TestHandleOfNoSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3)
		for _, s := range []*zktest.Session{ens.Session(7), ens.Leader().Session(7), zktest.Start(t).Session(7)} {
			require.EqualValues(t, 7, s.ID())
			for name, do := range map[string]func() bool{
				"Expire": s.Expire, "Replace": s.Replace, "Cut": s.Cut, "Blackhole": s.Blackhole,
				"BlackholeUpstream": s.BlackholeUpstream, "BlackholeDownstream": s.BlackholeDownstream,
				"Pause": s.Pause, "MoveTo": func() bool { return s.MoveTo(ens.Leader()) },
			} {
				require.False(t, do(), name)
			}
			require.True(t, s.Resume(), "of the Pause before")
			require.False(t, s.Resume())
			require.Nil(t, s.Member())
			require.Empty(t, s.Watches())
			require.Empty(t, s.Ephemerals())
		}
	})
}

// A handle of an ensemble finds the session at whichever member it is.
func TestHandleOfAnEnsemble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3)
		follower := ens.Followers()[0]
		c := connectTo(t, follower, 9*time.Second)
		_, err := c.Create("/e", nil, zk.FlagEphemeral, open)
		require.NoError(t, err)
		_, _, _, err = c.ExistsW("/w")
		require.NoError(t, err)

		s := ens.Session(c.SessionID())
		require.Equal(t, follower, s.Member())
		require.Equal(t, []string{"/e"}, s.Ephemerals())
		require.Equal(t, []zktest.Watch{{Session: s.ID(), Path: "/w"}}, s.Watches())
		require.Empty(t, ens.Leader().Session(s.ID()).Watches(), "the leader has none of them")
		require.False(t, s.MoveTo(nil))
		require.False(t, s.MoveTo(zktest.StartEnsemble(t, 1).Leader()), "a member of another ensemble")

		require.True(t, s.Pause())
		require.True(t, s.Resume())
		require.True(t, s.Cut())
		require.True(t, s.Expire())
		require.False(t, s.Expire())
		require.False(t, s.Replace(), "it has ended")
	})
}
