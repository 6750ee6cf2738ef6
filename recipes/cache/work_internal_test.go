package cache

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

// A step costs what has changed, however many nodes may not be read.
func TestStepCostsWhatHasChanged(t *testing.T) {
	c := &Cache{
		nodes: map[string]*Node{}, children: map[string]map[string]struct{}{},
		unreadable: map[string]error{},
	}
	tree := newTree()
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
