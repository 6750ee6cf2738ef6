package zktest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// Events at a member that lags are the leader's: they tell the zxid of
// the change, and go to clients that could read the node when it was made.
func TestEventsOfAMemberThatLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := StartEnsemble(t, 3)
		late := ens.Members()[0]
		owner, stranger := login(t, late.Server), login(t, late.Server)
		owner.call(wire.OpAuth, 0, "digest", []byte("joe:secret"))
		private := []wire.ACL{{Perms: wire.PermAll, ID: wire.ID{Scheme: "auth"}}}
		require.Equal(t, wire.ErrNoNode, owner.call(wire.OpExists, "/a", true).code)
		stranger.call(wire.OpExists, "/a", true)
		stranger.call(wire.OpGetChildren, "/", true)

		late.Lag(time.Second)
		zxid := ens.Leader().Stats().Zxid + 1
		xid := owner.send(wire.OpCreate, "/a", []byte{}, private, 0)
		r := owner.receive()
		require.Equal(t, datatree.Change{Event: wire.EventCreated, Path: "/a"}, r.event())
		require.Equal(t, zxid, r.zxid)
		r = owner.receive()
		require.Equal(t, xid, r.xid)
		require.Equal(t, zxid, r.zxid)
		r = stranger.receive()
		require.Equal(t, datatree.Change{Event: wire.EventChildrenChanged, Path: "/"}, r.event(), "and not the node's")
		require.Equal(t, zxid, r.zxid)
		require.Equal(t, 2, late.Stats().Notifications)
	})
}

// Every request that takes a zxid is the leader's affair: the answer waits
// until the member has it, and tells it.
func TestEveryTransactionWaitsForTheMember(t *testing.T) {
	for op, values := range map[wire.Op][]any{
		wire.OpCreate:          {"/x", []byte{}, datatree.OpenACL, 0},
		wire.OpCreate2:         {"/x", []byte{}, datatree.OpenACL, 0},
		wire.OpCreateContainer: {"/x", []byte{}, datatree.OpenACL, int(wire.FlagContainer)},
		wire.OpDelete:          {"/c", -1},
		wire.OpSetData:         {"/c", []byte("new"), -1},
		wire.OpSetACL:          {"/c", datatree.OpenACL, -1},
		wire.OpMulti:           {wire.OpDelete, "/c", -1},
		wire.OpCloseSession:    nil,
	} {
		t.Run(op.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ens := StartEnsemble(t, 3)
				late := ens.Members()[0]
				require.NoError(t, ens.Leader().Create("/c", nil))
				c := login(t, late.Server)
				late.Lag(time.Second)
				start, zxid := time.Now(), late.Stats().Zxid
				r := c.call(op, values...)
				require.Equal(t, time.Second, time.Since(start))
				require.Equal(t, zxid+1, r.zxid)
				require.Equal(t, zxid+1, late.Stats().Zxid)
				require.NoError(t, zkinside.Of(ens).AwaitAgreement(t.Context()))
			})
		})
	}
}
