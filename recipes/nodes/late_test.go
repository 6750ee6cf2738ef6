package nodes_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// A server stalls with a request of a session that the client loses meanwhile. The
// client has replaced its node in the next session, and has written to it, when the
// request is carried out.
//
// Promise: A late request of a lost session changes no later node of the client.
func TestLateRequestOfALostSessionMissesTheNextNode(t *testing.T) {
	for name, op := range map[string]zktest.Op{"write": zktest.OpSetData, "replacement": zktest.OpMulti} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				n, seen := startFollowed(t, c, "/a", "zero")
				w.ready(t, n)
				require.NoError(t, n.Set(w.Patience(t), []byte("one")))
				lose := zktest.Call(func(zktest.Request) { zkinside.Of(w.Fake).ReplaceSession(c.SessionID()) })
				late := w.Fake.Inject(zktest.Rule{Optional: true, Op: op, Path: "/a", Do: zktest.All(lose, zkinside.HoldRequest(time.Second).(zktest.Action))})
				if op == zktest.OpMulti {
					zkinside.Of(w.Fake).ReplaceSession(c.SessionID())
					w.Fake.CutAll()
				}
				require.NoError(t, n.Set(w.Patience(t), []byte("two")))
				require.Equal(t, 1, late.Hits())
				late.Remove()
				require.NoError(t, n.Set(w.Patience(t), []byte("three")))
				held := w.ready(t, n)
				synctest.Wait() // until the follower has read the changes
				before := states(seen())
				time.Sleep(10 * time.Second)
				require.Equal(t, before, states(seen()))
				require.Equal(t, held, w.ready(t, n))
				require.Equal(t, "three", w.dataOf("/a"))
			})
		})
	}
}
