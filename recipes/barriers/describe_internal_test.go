package barriers

import (
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// The session that a barrier is bound to ends. The next session of the client is
// not the barrier's.
//
// Promise: A barrier that fell with its session is not reported as raised in the next session.
func TestNextSessionDoesNotOwnTheBarrier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c := curatortest.Connect(t, srv)
		owner, err := c.Session(t.Context())
		require.NoError(t, err)
		stat := &zk.Stat{EphemeralOwner: owner.ID()}
		require.Equal(t, owner, describe(nil, stat, owner).Session)
		srv.Session(owner.ID()).Expire()
		<-owner.Context().Done()
		next, err := c.Session(t.Context())
		require.NoError(t, err)
		up := describe(nil, stat, next)
		require.Equal(t, owner.ID(), up.Owner)
		require.Nil(t, up.Session)
	})
}
