package cache_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

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
