package framework_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

func TestStrictContactKeepsAHealthySession(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		for _, op := range []zktest.Op{zktest.OpSync, zktest.OpPing} { // a slow network
			srv.Inject(zktest.Rule{Op: op, Do: zktest.DelayReply(200 * time.Millisecond)})
		}
		c := newClient(t, srv, framework.WithStrictContact())
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		for range 100 { // and an interruption now and then
			time.Sleep(time.Minute)
			srv.CutAll()
		}
		require.NoError(t, s.Context().Err())
	})
}

// The follower that we are connected to is cut off from its leader: it answers pings, and no sync. See also package
// zktest's ensembles.
func TestStrictContactEndsTheSessionBeforeTheLeaderDoes(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithStrictContact())
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		for i := range 10 {
			time.Sleep(time.Minute + time.Duration(i)*317*time.Millisecond)
		}
		cut := time.Now()
		srv.Inject(zktest.Rule{Op: zktest.OpSync, Do: zktest.DelayRequest(time.Hour)})
		srv.Inject(zktest.Rule{Op: zktest.OpConnect, Do: zktest.Mute}) // it cannot validate sessions either
		<-s.Context().Done()
		require.Less(t, time.Since(cut), trusted)
		require.Greater(t, time.Since(cut), sessionTimeout/4, "nor without need")
	})
}

// A sync may be refused by a server that has too much to do.
func TestStrictContactSurvivesSyncsThatAreRefused(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithStrictContact())
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		for i := range 20 {
			srv.Inject(zktest.Rule{Op: zktest.OpSync, After: i % 3, Times: 3, Do: zktest.Fail(zktest.ErrThrottled)})
			time.Sleep(time.Minute)
			require.NoError(t, s.Context().Err())
		}
	})
}
