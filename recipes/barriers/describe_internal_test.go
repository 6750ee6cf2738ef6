package barriers

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// The session that a barrier is bound to ends while the barrier is described.
// The next session of the client is not the barrier's.
func TestNextSessionIsNotThatOfTheBarrier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c := curatortest.Connect(t, srv)
		owner := c.SessionID()
		b := NewBarrier(c, "/b")
		require.NotNil(t, b.describe(t.Context(), nil, &zk.Stat{EphemeralOwner: owner}).Session)
		srv.RefuseConnections(true)
		srv.CutAll()
		synctest.Wait()
		time.AfterFunc(time.Second, func() {
			srv.Session(owner).Expire()
			srv.RefuseConnections(false)
		})
		up := b.describe(t.Context(), nil, &zk.Stat{EphemeralOwner: owner})
		require.NotEqual(t, owner, c.SessionID())
		require.Equal(t, owner, up.Owner)
		require.Nil(t, up.Session)
	})
}
