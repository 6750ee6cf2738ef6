package framework

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/testing/zktest"
)

// The paths in memory do not grow with the tree, except by some for each level
// of its depth.
func TestLargeTreeIsNotInMemory(t *testing.T) {
	thorough.MuchWork(t)
	const depth = 40
	for _, width := range thorough.Some(2, 1, 500, 15000) {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := zktest.Start(t)
				c, err := New(srv.Addr(), WithDialer(srv.Dialer()))
				require.NoError(t, err)
				defer c.Close()
				s, err := c.Session(t.Context())
				require.NoError(t, err)
				require.NoError(t, srv.Create("/tree", nil))
				for chain := 0; chain == 0 || chain*depth < 25000 && chain < width; chain++ {
					path := fmt.Sprint("/tree/", chain)
					for range depth {
						require.NoError(t, srv.Create(path, nil))
						path += "/n"
					}
				}
				for i := range width {
					require.NoError(t, srv.Create(fmt.Sprint("/tree/0/", i), nil))
				}

				tree, most := &largeTree{held: 1}, 0
				require.NoError(t, tree.descend(t.Context(), s, []string{"/tree"}))
				for len(tree.steps) > 0 {
					require.NoError(t, tree.step(t.Context(), s))
					most = max(most, tree.held)
				}
				require.LessOrEqual(t, most, maxCollected+2*pipelineDepth*depth)
				require.Zero(t, tree.held)
				_, ok := srv.Node("/tree")
				require.False(t, ok)
			})
		})
	}
}
