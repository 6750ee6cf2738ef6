package zktest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
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
		all := zkinside.Of(ens)
		require.Equal(t, follower.ID(), all.MemberOf(c.SessionID()))
		require.Equal(t, []string{"/e"}, all.Ephemerals(c.SessionID()))
		require.Equal(t, []zktest.Watch{{Session: c.SessionID(), Path: "/w"}}, follower.Watches())
		require.Equal(t, 1, all.Watches(c.SessionID()))
		require.Empty(t, ens.Leader().Watches(), "the leader has none of them")

		require.True(t, all.PauseSession(c.SessionID()))
		require.True(t, all.ResumeSession(c.SessionID()))
		require.True(t, s.Cut())
		require.True(t, s.Expire())
		require.False(t, s.Expire())
		require.False(t, all.ReplaceSession(c.SessionID()), "it has ended")
	})
}
