package zktest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

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
