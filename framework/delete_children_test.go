package framework_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/testing/zktest"
)

// shapes are trees below /tree of more nodes than are collected at once.
var shapes = map[string]func(make func(path string)){
	"flat": func(make func(string)) {
		for i := range thorough.Size(25000, 13000) {
			make(fmt.Sprint("/tree/", i))
		}
	},
	"chains": func(make func(string)) {
		for i := range thorough.Size(300, 220) {
			path := fmt.Sprint("/tree/", i)
			for range 60 {
				make(path)
				path += "/n"
			}
		}
	},
}

func makeShape(t *testing.T, srv *zktest.Server, shape func(func(string))) (nodes int) {
	t.Helper()
	make := func(path string) {
		require.NoError(t, srv.Create(path, nil))
		nodes++
	}
	make("/tree")
	shape(make)
	return nodes
}

// Hardly a node is listed or deleted twice, whatever the tree's shape is.
func TestDeleteWithChildrenOfALargeTree(t *testing.T) {
	t.Parallel()
	for _, name := range thorough.Size([]string{"flat", "chains"}, []string{"chains"}) {
		shape := shapes[name]
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := zktest.Start(t)
				c := newClient(t, srv)
				require.NoError(t, c.WaitConnected(t.Context()))
				n := makeShape(t, srv, shape)
				listed := 0 // until the second delete, for the first is that of the tree itself
				srv.Inject(zktest.Rule{Op: zktest.OpDelete, After: 1, Do: zktest.Call(func(zktest.Request) {
					listed = srv.CountRequests(zktest.OpGetChildren2)
				})})
				require.NoError(t, c.Delete(t.Context(), "/tree", framework.AnyVersion, framework.WithChildren()))
				srv.AssertNoNodes(t, "/")
				require.Less(t, listed, 22000, "it is not listed as a whole first")
				require.Less(t, srv.CountRequests(zktest.OpDelete), n+n/10)
				require.Less(t, srv.CountRequests(zktest.OpGetChildren2), n+12000)
			})
		})
	}
}
