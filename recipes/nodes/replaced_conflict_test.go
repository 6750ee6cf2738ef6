package nodes_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// Our node is replaced by another one, which a server fails to read. Ours is gone in
// any case, and is not told as there meanwhile.
//
// Promise: A claimed node that was replaced is reported as lost before the replacement is read.
// Promise: An ephemeral node that was replaced is reported as lost before the replacement is read.
func TestNodeThatIsReplacedIsLostBeforeTheOtherOneIsRead(t *testing.T) {
	for name, tc := range map[string]struct {
		opts  []nodes.Option
		after []nodes.State // what is told when the other node is read
	}{
		"ephemeral":      {after: []nodes.State{nodes.Conflict}},
		"not claimed":    {opts: claiming(false), after: []nodes.State{nodes.Conflict}},
		"claimed":        {opts: claiming(true), after: []nodes.State{nodes.Registered}},
		"other and ends": {opts: []nodes.Option{nodes.WithConflictPolicy(nodes.Fail)}, after: []nodes.State{nodes.Conflict, nodes.Ended}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				n, seen := startFollowed(t, c, "/a", "ours", tc.opts...)
				w.ready(t, n)
				synctest.Wait()
				trouble := w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Op: zktest.OpGetData, Times: -1, Do: zktest.Fail(zkinside.ErrSystem)})
				_, err := w.Observer.Transaction(t.Context(), framework.DeleteOp("/a", framework.AnyVersion), framework.CreateOp("/a", []byte("theirs")))
				require.NoError(t, err)
				settle()
				_, there := n.Registration()
				require.False(t, there)
				require.Equal(t, []nodes.State{nodes.Registered, nodes.Lost}, states(seen()))
				require.ErrorIs(t, seen()[1].Err, nodes.ErrNodeDeleted)

				trouble.Remove()
				time.Sleep(time.Minute)
				require.Equal(t, append([]nodes.State{nodes.Registered, nodes.Lost}, tc.after...), states(seen()))
			})
		})
	}
}

// claiming returns the options of a node that claims all others, or none.
func claiming(all bool) []nodes.Option {
	claim := func([]byte) bool { return all }
	return []nodes.Option{nodes.WithMode(framework.Persistent), nodes.WithClaim(claim)}
}

// A write to our node is in doubt when another one is put in its place, which a server
// fails to write to. It is taken over later, and ours is gone until then.
//
// Promise: A node that is replaced while a write to it has an unknown outcome is reported as lost.
func TestNodeThatIsReplacedDuringADoubtIsLost(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		n, seen := startFollowed(t, c, "/a", "ours", nodes.WithMode(framework.Persistent))
		w.ready(t, n)
		synctest.Wait()
		w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Op: zktest.OpSetData, Do: zktest.All(zktest.DropReply(), zktest.Call(func(zktest.Request) { network.Refuse(true) }))})
		require.Error(t, n.Set(recipetest.Within(t, time.Second), []byte("new")))
		require.NoError(t, w.Fake.Delete("/a"))
		require.NoError(t, w.Fake.Create("/a", []byte("theirs")))
		trouble := w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Op: zktest.OpSetData, Times: -1, Do: zktest.Fail(zkinside.ErrSystem)})
		network.Refuse(false)
		require.NoError(t, c.WaitConnected(w.Patience(t)))
		time.Sleep(time.Minute)
		require.Positive(t, trouble.Hits())
		_, there := n.Registration()
		require.False(t, there)
		require.Equal(t, []nodes.State{nodes.Registered, nodes.Lost}, states(seen()))

		trouble.Remove()
		time.Sleep(time.Minute)
		require.Equal(t, []nodes.State{nodes.Registered, nodes.Lost, nodes.Registered}, states(seen()))
		require.Equal(t, "new", w.dataOf("/a"))
	})
}
