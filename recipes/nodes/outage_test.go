package nodes_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// closedInOutage is a node that is not ephemeral, and is shut down while there
// is no connection.
type closedInOutage struct {
	data      string      // of the owner's node; another client's is "theirs"
	fault     zktest.Rule // of its first requests; none if that is zero
	unknowing bool        // the client has no answer of a server yet
	meanwhile func(w *world)
}

func (c closedInOutage) run(t *testing.T, w *world) {
	t.Helper()
	client, network := w.Connect(t)
	require.NoError(t, client.WaitConnected(w.Patience(t)))
	if !c.unknowing {
		require.NoError(t, client.Sync(w.Patience(t), "/"))
	}
	network.Refuse(true)
	if c.fault.Op == 0 {
		network.Cut()
		settle()
	} else {
		w.Fake.Inject(c.fault)
	}
	n := start(t, client, "/config", c.data, nodes.WithMode(framework.Persistent))
	time.Sleep(50 * time.Millisecond) // a request that was refused is not repeated so soon
	if c.meanwhile != nil {
		c.meanwhile(w)
	}
	network.Cut()
	time.Sleep(time.Second)
	n.Shutdown(recipetest.Within(t, time.Second))
	network.Refuse(false)
	require.NoError(t, n.Shutdown(w.Patience(t)))
}

// Shutdown deletes no node that this persistent node has neither made nor
// written to: its request was never sent, or was lost, or found the node there.
//
// Promise: A create that was not applied makes no other client's node this client's own.
func TestShutdownInAnOutageLeavesTheNodeOfAnother(t *testing.T) {
	ofCreate := func(do zktest.Action) zktest.Rule { return zktest.Rule{Op: zktest.OpCreate, Do: do} }
	for name, c := range map[string]closedInOutage{
		"never sent":                       {data: "ours"},
		"never sent, the same data":        {data: "theirs"},
		"not carried out, the same data":   {data: "theirs", fault: zktest.Rule{Op: zktest.OpCreate, Times: -1, Do: zktest.Fail(zkinside.ErrThrottled)}},
		"lost request":                     {data: "ours", fault: ofCreate(zktest.DropRequest())},
		"lost reply":                       {data: "ours", fault: ofCreate(zktest.DropReply())},
		"lost reply to the first request":  {data: "ours", fault: ofCreate(zktest.DropReply()), unknowing: true},
		"lost request that would write it": {data: "ours", fault: zktest.Rule{Op: zktest.OpSetData, Do: zktest.DropRequest()}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				require.NoError(t, w.Fake.Create("/config", []byte("theirs")))
				c.run(t, w)
				require.Equal(t, "theirs", w.dataOf("/config"))
			})
		})
	}
}

// Somebody else has made the node behind our request, which was lost.
func TestShutdownInAnOutageLeavesANodeThatIsNewer(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		closedInOutage{
			data: "ours", fault: zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropRequest()},
			meanwhile: func(w *world) { require.NoError(t, w.Fake.Create("/config", []byte("theirs"))) },
		}.run(t, w)
		require.Equal(t, "theirs", w.dataOf("/config"))
	})
}

// The reply to the request that takes a node over was lost. The node is ours,
// as it would be with the reply.
func TestShutdownInAnOutageDeletesANodeThatWasTakenOver(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create("/config", []byte("theirs")))
		closedInOutage{data: "ours", fault: zktest.Rule{Op: zktest.OpSetData, Do: zktest.DropReply()}}.run(t, w)
		require.Equal(t, "-", w.dataOf("/config"))
	})
}
