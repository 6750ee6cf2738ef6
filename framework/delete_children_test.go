package framework_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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
	"many chains": func(make func(string)) {
		for i := range 9999 {
			make(fmt.Sprint("/tree/", i))
			make(fmt.Sprint("/tree/", i, "/n"))
			make(fmt.Sprint("/tree/", i, "/n/n"))
		}
	},
	"two large nodes": func(make func(string)) {
		for i := range 2 {
			make(fmt.Sprint("/tree/", i))
			for j := range 12000 {
				make(fmt.Sprint("/tree/", i, "/", j))
			}
		}
	},
	"wide and wide": func(make func(string)) {
		for i := range 150 {
			make(fmt.Sprint("/tree/", i))
			for j := range 150 {
				make(fmt.Sprint("/tree/", i, "/", j))
			}
		}
	},
}

// namesOfShapes returns the shapes that a test tries: only the one with the
// fewest nodes, except in a full run.
func namesOfShapes(all ...string) []string { return thorough.Size(all, []string{"chains"}) }

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
	for _, name := range namesOfShapes("flat", "chains", "many chains", "two large nodes", "wide and wide") {
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

// The answer with the names of a node's children is long if they are many. So the
// node is not listed again for each portion of them.
func TestDeleteWithChildrenListsALargeFlatNodeFewTimes(t *testing.T) {
	t.Parallel()
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv)
		require.NoError(t, srv.Create("/flat", nil))
		require.NoError(t, srv.Create("/flat/z", nil))
		require.NoError(t, srv.Create("/flat/z/n", nil))
		for i := range 24_000 {
			require.NoError(t, srv.Create(fmt.Sprint("/flat/", i), nil))
		}
		lists := srv.Inject(zktest.Rule{Op: zktest.OpGetChildren2, Path: "/flat", Times: -1, Do: zktest.DelayReply(0)})
		require.NoError(t, c.Delete(t.Context(), "/flat", framework.AnyVersion, framework.WithChildren()))
		require.LessOrEqual(t, lists.Hits(), 3, "the third time because of a node with children behind the first portion")
		srv.AssertNoNodes(t, "/")
	})
}

// An interrupted delete goes on where it was.
func TestDeleteWithChildrenOfALargeTreeGoesOnAfterLostRequests(t *testing.T) {
	thorough.MuchWork(t)
	t.Parallel()
	for _, name := range namesOfShapes("flat", "chains") {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				makeShape(t, srv, shapes[name])
				for _, op := range []zktest.Op{zktest.OpDelete, zktest.OpGetChildren2} {
					srv.Inject(zktest.Rule{Op: op, After: 5000, Do: zktest.DropReply()})
					srv.Inject(zktest.Rule{Op: op, After: 11000, Do: zktest.DropRequest()})
				}
				require.NoError(t, c.Delete(t.Context(), "/tree", 0, framework.WithChildren()))
				srv.AssertNoNodes(t, "/")
			})
		})
	}
}

// Somebody makes a node again whenever it is deleted. The delete ends all the
// same.
func TestDeleteWithChildrenOfALargeTreeGivesUpAgainstSomebodyWhoGoesOnCreating(t *testing.T) {
	thorough.MuchWork(t)
	t.Parallel()
	for _, name := range namesOfShapes("flat", "chains") {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				makeShape(t, srv, shapes[name])
				var again string
				srv.Inject(zktest.Rule{Op: zktest.OpDelete, Path: "/tree/*", Times: -1, Do: zktest.CallAfter(func(r zktest.Request) {
					if again == "" || again == r.Path {
						again = r.Path
						srv.Create(r.Path, nil)
					}
				})})
				err := c.Delete(t.Context(), "/tree", framework.AnyVersion, framework.WithChildren())
				require.ErrorContains(t, err, "node has children")
				require.Equal(t, []string{strings.TrimPrefix(again, "/tree/")}, srv.Children("/tree"))
			})
		})
	}
}

func TestGuaranteedDeleteOfALargeTreeIsFinishedInTheBackground(t *testing.T) {
	thorough.MuchWork(t)
	t.Parallel()
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		makeShape(t, srv, shapes["flat"])
		ctx := within(t, 3*time.Second)
		srv.Inject(zktest.Rule{Op: zktest.OpDelete, Path: "/tree/*", After: 100, Do: zktest.DelayReply(5 * time.Second)})
		err := c.Delete(ctx, "/tree", framework.AnyVersion, framework.WithChildren(), framework.WithGuarantee())
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		time.Sleep(10 * time.Minute)
		srv.AssertNoNodes(t, "/")
	})
}
