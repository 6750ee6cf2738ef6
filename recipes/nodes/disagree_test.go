package nodes_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// The client or the server refuses to create a node that is not ephemeral, and
// somebody else has one with the path. The persistent node ends, and deletes
// nothing.
func TestRefusedNodeDeletesNoOther(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		opts []nodes.Option
	}{
		"data": {data: strings.Repeat("x", 2<<20)},
		"ACL":  {opts: []nodes.Option{nodes.WithACL([]zk.ACL{{Perms: zk.PermAll, Scheme: "auth"}})}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				require.NoError(t, w.Fake.Create("/config", []byte("theirs")))
				client, _ := w.Connect(t)
				n := start(t, client, "/config", c.data, append(c.opts, nodes.WithMode(framework.Persistent))...)
				_, err := n.WaitRegistered(t.Context())
				require.True(t, framework.IsRefusal(err), "%v", err)
				require.NoError(t, n.Shutdown(t.Context()))
				require.Equal(t, "theirs", w.dataOf("/config"))
			})
		})
	}
}

// A server says that the node exists when it is to be created, and that it does
// not when it is looked for. The attempts have pauses.
func TestAnswersThatDisagreeDoNotSpin(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		fault := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: 1000, Do: zktest.Fail(zkinside.ErrNodeExists)})
		n := start(t, c, "/a", "data")
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Greater(t, fault.Hits(), 3)
		require.Less(t, fault.Hits(), 20)
		fault.Remove()
		w.ready(t, n)
		require.Equal(t, "data", w.dataOf("/a"))
	})
}

// During an outage, somebody deletes the node and creates another one with the
// same version. It gets our data.
func TestOtherNodeOfTheSameVersionGetsOurData(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		n, seen := startFollowed(t, c, "/a", "ours", nodes.WithMode(framework.Persistent))
		w.ready(t, n)
		synctest.Wait()
		network.Refuse(true)
		network.Cut()
		require.NoError(t, w.Fake.Delete("/a"))
		require.NoError(t, w.Fake.Create("/a", []byte("theirs")))
		network.Refuse(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, "ours", w.dataOf("/a"))
		require.Equal(t, []nodes.State{nodes.Registered, nodes.Lost, nodes.Registered}, states(seen()))
	})
}
