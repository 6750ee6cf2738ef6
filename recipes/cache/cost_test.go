package cache_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

// Each creation, write or deletion costs one request, if they do not come so
// closely that one step has several.
func TestChangeCostsOneRequest(t *testing.T) {
	for _, version := range []string{"3.9", "3.8"} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := servers[version](t)
				client := connect(t, srv)
				create(t, srv, "/r", "/r/a")
				c := open(t, client, "/r")
				cost := func(change func()) int {
					synctest.Wait()
					before := srv.CountRequests(zktest.OpAny)
					change()
					synctest.Wait()
					require.Equal(t, srv.Zxid(), c.Zxid())
					return srv.CountRequests(zktest.OpAny) - before
				}
				const nodes = 100
				each := func(change func(path string)) func() {
					return func() {
						for i := range nodes {
							change(fmt.Sprint("/r/a/", i))
							time.Sleep(time.Millisecond)
						}
					}
				}
				require.Equal(t, nodes, cost(each(func(path string) { create(t, srv, path) })))
				require.Equal(t, nodes, cost(each(func(path string) { require.NoError(t, srv.Set(path, nil)) })))
				require.Equal(t, nodes, cost(each(func(path string) { require.NoError(t, srv.Delete(path)) })))
			})
		})
	}
}

// A cache without data costs no more requests than one with data, when it is filled
// and after a reconnect, and its nodes have none. Nodes that are known to have much
// data are asked for without it.
func TestCacheWithoutDataCostsNoMoreRequests(t *testing.T) {
	for _, size := range []int{0, 100, 10_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := zktest.Start(t)
				create(t, srv, "/r")
				for i := range 500 {
					require.NoError(t, srv.Create(fmt.Sprint("/r/", i), make([]byte, size)))
				}
				costs := func(opts ...cache.Option) (filled, again int) {
					client := connect(t, srv)
					require.NoError(t, client.WaitConnected(t.Context()))
					before := srv.CountRequests(zktest.OpAny)
					c := open(t, client, "/r", opts...)
					filled = srv.CountRequests(zktest.OpAny) - before
					for n := range c.All() {
						require.Equal(t, len(opts) == 0 && n.Stat.DataLength > 0, len(n.Data) > 0)
					}
					before = srv.CountRequests(zktest.OpAny)
					srv.Session(client.SessionID()).Cut()
					require.NoError(t, srv.Set("/r", nil))
					require.NoError(t, c.WaitFor(within(t), srv.Zxid()))
					again = srv.CountRequests(zktest.OpAny) - before
					require.NoError(t, c.Close())
					require.NoError(t, client.Close())
					return filled, again
				}
				filled, again := costs()
				filledWithout, againWithout := costs(cache.WithoutData())
				require.LessOrEqual(t, filledWithout, filled)
				require.LessOrEqual(t, againWithout, again)
			})
		})
	}
}
