package zktest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Events at a member that lags are those of the leader: they tell the zxid of the change, and go to those who could read
// the node when it was made.
func TestEventsOfAMemberThatLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := NewEnsemble(t, 3)
		late := ens.Member(0)
		owner, stranger := login(t, late.Server), login(t, late.Server)
		owner.call(OpAuth, 0, "digest", []byte("joe:secret"))
		private := []ACL{{Perms: permAll, ID: ID{Scheme: "auth"}}}
		require.Equal(t, ErrNoNode, owner.call(OpExists, "/a", true).code)
		stranger.call(OpExists, "/a", true)
		stranger.call(OpGetChildren, "/", true)

		late.Lag(time.Second)
		zxid := ens.Leader().Zxid() + 1
		xid := owner.send(OpCreate, "/a", []byte{}, private, 0)
		r := owner.receive()
		require.Equal(t, change{eventCreated, "/a"}, r.event())
		require.Equal(t, zxid, r.zxid)
		r = owner.receive()
		require.Equal(t, xid, r.xid)
		require.Equal(t, zxid, r.zxid)
		r = stranger.receive()
		require.Equal(t, change{eventChildrenChanged, "/"}, r.event(), "and not that of the node")
		require.Equal(t, zxid, r.zxid)
		require.Equal(t, 2, late.Stats().Notifications)
	})
}

// Whatever takes a zxid is the leader's affair: the answer waits until the member has it, and tells it.
func TestEveryTransactionWaitsForTheMember(t *testing.T) {
	for op, values := range map[Op][]any{
		OpCreate:          {"/x", []byte{}, openACL, 0},
		OpCreate2:         {"/x", []byte{}, openACL, 0},
		OpCreateContainer: {"/x", []byte{}, openACL, int(flagContainer)},
		OpDelete:          {"/c", -1},
		OpDeleteContainer: {"/c"},
		OpSetData:         {"/c", []byte("new"), -1},
		OpSetACL:          {"/c", openACL, -1},
		OpMulti:           {OpDelete, "/c", -1},
		OpReconfig:        {"", "", "", int64(-1)},
		OpCloseSession:    nil,
	} {
		t.Run(op.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ens := NewEnsemble(t, 3)
				late := ens.Member(0)
				require.NoError(t, ens.Leader().Create("/c", nil))
				c := login(t, late.Server)
				late.Lag(time.Second)
				start, zxid := time.Now(), late.Zxid()
				r := c.call(op, values...)
				require.Equal(t, time.Second, time.Since(start))
				require.Equal(t, zxid+1, r.zxid)
				require.Equal(t, zxid+1, late.Zxid())
				require.NoError(t, ens.WaitAgreement(t.Context()))
			})
		})
	}
}
