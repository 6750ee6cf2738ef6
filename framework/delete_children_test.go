package framework_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// Every node of a chain is listed once, and deleted once its child is gone.
func TestDeleteWithChildrenOfChains(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		nodes := 0
		add := func(path string) {
			require.NoError(t, srv.Create(path, nil))
			nodes++
		}
		add("/tree")
		for i := range 100 {
			path := fmt.Sprint("/tree/", i)
			for range 30 {
				add(path)
				path += "/n"
			}
		}
		require.NoError(t, c.Delete(t.Context(), "/tree", framework.AnyVersion, framework.WithChildren()))
		require.Empty(t, srv.Tree())
		require.Less(t, srv.CountRequests(zktest.OpDelete), 2*nodes)
		require.Less(t, srv.CountRequests(zkinside.OpGetChildren2), nodes)
	})
}
