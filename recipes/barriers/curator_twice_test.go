package barriers_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// The request for a member's node arrives when its client has another session, in
// which the member has made another node. It is one member still, and does not pass
// when it looks again, in a third session.
//
// Promise: In Curator's layout, a member whose create was applied twice counts once.
func TestMemberInCuratorsLayoutWithALateNodeIsOne(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create("/b", nil))
		client, network := w.Connect(t)
		session := client.SessionID()
		w.Fake.Inject(zktest.Rule{
			Op: zktest.OpCreate, Session: session,
			Do: zktest.All(zktest.Call(func(zktest.Request) { w.Fake.Session(session).Replace() }), zktest.HoldRequest(time.Second)),
		})
		lone := enterLater(w.Patience(t), curatorBarrier(client, 2))
		time.Sleep(2 * time.Second)
		require.NotEqual(t, session, client.SessionID())
		require.Len(t, w.Fake.Children("/b"), 2, "the late node, and that of the present session")
		w.Fake.Session(client.SessionID()).Replace()
		network.Cut()
		time.Sleep(time.Minute)
		require.False(t, lone.isOver(), "it has passed alone")
	})
}
