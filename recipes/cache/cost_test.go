package cache_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

// Promise: A cache WithoutData sends no more requests than one with the data, when it is
// filled, when many nodes change at once, and after a reconnect.
func TestWithoutDataCostsNoMoreRequests(t *testing.T) {
	requests := func(t *testing.T, size int, opts ...cache.Option) (sent []int) {
		synctest.Test(t, func(t *testing.T) {
			srv := zktest.Start(t)
			client := connect(t, srv)
			create(t, srv, "/r")
			// While the first read of a step waits, all events of the step arrive.
			srv.Inject(zktest.Rule{Times: -1, Do: zktest.DelayRequest(time.Millisecond)})
			each := func(do func(path string, data []byte) error) {
				for i := range 40 {
					require.NoError(t, do(fmt.Sprint("/r/", i), make([]byte, size+i)))
				}
			}
			step := func(do func()) {
				srv.ClearRequests()
				do()
				synctest.Wait()
				sent = append(sent, srv.CountRequests(zktest.OpAny)-srv.CountRequests(zkinside.OpPing))
			}
			each(srv.Create)
			require.NoError(t, client.WaitConnected(t.Context()))
			var c *cache.Cache
			step(func() { c = open(t, client, "/r", opts...) })
			step(func() { each(srv.Set); require.NoError(t, c.WaitFor(within(t), srv.Stats().Zxid)) })
			step(func() { srv.CutAll(); time.Sleep(time.Second) })
			step(func() { each(func(path string, _ []byte) error { return srv.Delete(path) }); time.Sleep(time.Second) })
		})
		return sent
	}
	for _, size := range []int{10, 2 << 10} {
		with, without := requests(t, size), requests(t, size, cache.WithoutData())
		for i := range with { // up to two more or less, by how many events arrive before the first read
			require.LessOrEqual(t, without[i], with[i]+2, "step %d with data of %d bytes", i, size)
		}
	}
}
