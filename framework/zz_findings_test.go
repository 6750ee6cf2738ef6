//go:build findings

package framework_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

func TestFindingSessionsAreLeftOnTheServerWhileCredentialsAreRefused(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		newClient(t, srv, framework.WithAuth("nonsense", nil), framework.WithSessionTimeout(40*time.Second))
		time.Sleep(40 * time.Second)
		require.LessOrEqual(t, len(srv.Sessions()), 2)
	})
}

// All who wait for a watch that cannot be set try one after the other: 100 callers take 100 round trips.
func TestFindingWatchesOfAMissingNodeAreRefusedOneByOne(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Times: -1, Do: zktest.DelayReply(10 * time.Millisecond)})
		begin := time.Now()
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() {
				_, _, _, err := c.GetW(t.Context(), "/missing")
				if !errors.Is(err, zk.ErrNoNode) {
					t.Error(err)
				}
			})
		}
		callers.Wait()
		require.Less(t, time.Since(begin), 100*time.Millisecond)
	})
}
