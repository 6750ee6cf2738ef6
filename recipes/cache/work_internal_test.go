package cache

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// A step costs what has changed, however many nodes may not be read.
func TestStepCostsWhatHasChanged(t *testing.T) {
	c := &Cache{
		nodes: map[string]*Node{}, children: map[string]map[string]struct{}{},
		unreadable: map[string]error{},
	}
	tree := newTree(c)
	for i := range 20_000 {
		tree.refuse(fmt.Sprint("/r/", i), zk.ErrNoAuth)
	}
	c.publish(&tree, 1, false)
	require.Len(t, c.Unreadable(), 20_000)

	const steps = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range steps {
		tree.put(&Node{Path: "/r/hot", Stat: zk.Stat{Mzxid: int64(2 + i)}})
		c.publish(&tree, int64(2+i), false)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(steps*10_000))

	tree.put(&Node{Path: "/r/0"})
	tree.remove("/r/1")
	tree.refuse("/r/2", zk.ErrSessionExpired)
	tree.refuse("/r/hot", zk.ErrNoAuth)
	c.publish(&tree, 200, false)
	require.Len(t, c.Unreadable(), 19_999)
	require.NotContains(t, c.Unreadable(), "/r/0")
	require.NotContains(t, c.Unreadable(), "/r/1")
	require.ErrorIs(t, c.Unreadable()["/r/2"], zk.ErrSessionExpired)
	require.ErrorIs(t, c.Unreadable()["/r/hot"], zk.ErrNoAuth)
}

// The root changes in the time of each read, at a server that reads no nodes
// together, so that the cache takes a step only by chance. Nodes come and go with
// ever new names. The cache keeps nothing of nodes that are gone.
func TestCacheThatTakesNoStepDoesNotGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		srv.Inject(zktest.Rule{Op: zkinside.OpMultiRead, Times: -1, Do: zktest.Fail(zkinside.ErrUnimplemented)})
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Times: -1, Do: zktest.DelayReply(10 * time.Millisecond)})
		require.NoError(t, srv.Create("/r", nil))
		client := curatortest.Connect(t, srv)
		c, err := New(client, "/r")
		require.NoError(t, err)
		require.NoError(t, c.WaitSynced(t.Context()))
		for i := range 4000 {
			require.NoError(t, srv.Set("/r", []byte(fmt.Sprint(i))))
			if i%20 == 0 {
				require.NoError(t, srv.Create(fmt.Sprint("/r/", i), nil))
			}
			if i%20 == 0 && i >= 40 {
				require.NoError(t, srv.Delete(fmt.Sprint("/r/", i-40)))
			}
			time.Sleep(time.Millisecond)
		}
		require.NoError(t, client.Close())
		<-c.Done()
		require.NoError(t, c.Close())
		for name, size := range map[string]int{
			"nodes": len(c.loop.tree.nodes), "touched": len(c.loop.tree.touched), "hot": len(c.loop.hot),
			"dirty": len(c.loop.dirty), "members": len(c.loop.members), "unreadable": len(c.loop.tree.unreadable),
		} {
			require.LessOrEqual(t, size, 10, name)
		}
	})
}
