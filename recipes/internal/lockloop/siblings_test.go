package lockloop

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// One look for many leases is in proportion to the nodes that are there, and
// not to the pairs of a lease and a node: it takes about as long as making up the
// names. The two are measured one after the other, so that a busy machine slows
// both.
func TestLookForManySiblingsTakesAShortTime(t *testing.T) {
	const n = 50_000
	c := &contender{
		loop: ByCount(Nodes{Kinds: []string{"lease-"}}, nil),
		node: framework.Created{Path: "/leases/lease-0000000000"}, attempt: Attempt{Siblings: map[string]struct{}{}},
	}
	children := []string{"lease-0000000000"}
	begin := time.Now()
	for i := range n {
		name := fmt.Sprintf("lease-%010d", 1+i)
		children = append(children, name)
		c.attempt.Siblings[name] = struct{}{}
	}
	naming := time.Since(begin)
	begin = time.Now()
	require.NoError(t, c.checkSiblings(children))
	require.ErrorIs(t, c.checkSiblings(children[:n]), ErrIncomplete)
	c.noteOthers(append(children, "lease-0000999999"))
	require.Equal(t, "lease-0000999999", c.seen.Holder)
	require.Equal(t, 1, c.seen.Ahead)
	require.Less(t, time.Since(begin), 50*naming)
}
