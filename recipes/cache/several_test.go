package cache_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// A server refuses every multiRead. The nodes are read one by one then, and none is
// unreadable.
func TestCacheOfAServerThatRefusesMultiReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		srv.Inject(zktest.Rule{Op: zkinside.OpMultiRead, Times: -1, Do: zktest.Fail(zkinside.ErrUnimplemented)})
		create(t, srv, "/r")
		for i := range 1000 {
			create(t, srv, fmt.Sprint("/r/", i))
		}
		c := open(t, connect(t, srv), "/r")
		require.Len(t, paths(c), 1001)
		require.Empty(t, c.Unreadable())
	})
}

// Large nodes are not read by many at a time.
func TestAnswersAreNotMuchLargerThanANode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 16
		nodes := thorough.Size(200, 100)
		for size, atATime := range map[int]int{0: many, 100: many, 64 << 10: 2, 256 << 10: 2} {
			srv := zktest.Start(t)
			create(t, srv, "/r")
			data := make([]byte, size)
			for i := range nodes {
				require.NoError(t, srv.Create(fmt.Sprint("/r/", i), data))
			}
			srv.ClearRequests()
			c := open(t, connect(t, srv), "/r")
			require.Len(t, paths(c), nodes+1)
			requests := srv.CountRequests(zkinside.OpMultiRead)
			require.GreaterOrEqual(t, requests, (nodes-4*many)/atATime, "of %d bytes", size)
			require.LessOrEqual(t, requests, nodes/atATime+20, "of %d bytes", size)
			c.Close()
		}
	})
}

// After a reconnect, nodes with little data are read again, several at a time. Of
// others, the server is asked first whether they have changed.
func TestReconnectReadsLittleData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		create(t, srv, "/r", "/r/changed")
		const little, large = 1000, 100
		for i := range little {
			require.NoError(t, srv.Create(fmt.Sprint("/r/little", i), make([]byte, 100)))
		}
		for i := range large {
			require.NoError(t, srv.Create(fmt.Sprint("/r/large", i), make([]byte, 100_000)))
		}
		c := open(t, connect(t, srv), "/r")
		srv.ClearRequests()
		srv.CutAll()
		require.NoError(t, srv.Set("/r/changed", []byte("new")))
		require.NoError(t, c.WaitFor(within(t), srv.Stats().Zxid))
		require.Equal(t, large, srv.CountRequests(zktest.OpExists))
		require.LessOrEqual(t, srv.CountRequests(zktest.OpGetData), 10)
		require.LessOrEqual(t, srv.CountRequests(zkinside.OpMultiRead), little/4)
		n, _ := c.Get("/r/changed")
		require.Equal(t, "new", string(n.Data))
	})
}
