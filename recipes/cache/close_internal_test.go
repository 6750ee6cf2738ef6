package cache

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// quietSource has nothing to tell.
type quietSource struct{ persistentSource }

func (*quietSource) drain(*loop) error { return nil }

// The client may be closed when the context of the loop has not ended yet.
//
// Promise: Closing the client reports no node as unreadable.
func TestErrorOfAClosedClientSaysNothingOfANode(t *testing.T) {
	const path = "/r/a"
	read := request{path: path, needs: needNode}
	for name, r := range map[string]result{
		"one":      {request: read, err: framework.ErrClosed},
		"several":  {several: []result{{request: read}}, err: framework.ErrClosed},
		"together": {together: &together{paths: []string{path}}, err: framework.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, err := New(curatortest.Connect(t, zktest.Start(t)), "/r")
				require.NoError(t, err)
				defer c.Close()
				l := newLoop(t.Context(), c)
				l.source = &quietSource{}
				n := &Node{Path: path}
				l.tree.put(n)
				l.mark(path, needNode)
				l.arrived(r)
				require.Same(t, n, l.tree.node(path))
				require.Empty(t, l.tree.unreadable)
				require.True(t, l.batch[path] != 0 || l.dirty[path].needs != 0, "it is still to be read")
			})
		})
	}
}
