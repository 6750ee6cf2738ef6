//go:build real

package zkserver

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// linked are the options of ensembles whose servers are cut off from one
// another.
var linked = []Option{WithLinks(), WithSyncLimit(60)} // six seconds

// fourLinked returns an ensemble of four servers that do not run. Their links
// carry nothing.
func fourLinked() *Ensemble {
	e := &Ensemble{links: &links{pairs: make(map[pair]*gate)}}
	for id := 1; id <= 4; id++ {
		e.servers = append(e.servers, &Server{member: member{id: id}})
		for other := 1; other < id; other++ {
			e.links.pairs[pairOf(id, other)] = newGate()
		}
	}
	return e
}

// cuts returns the pairs of servers that are cut off from each other.
func (e *Ensemble) cuts() []pair {
	var cuts []pair
	for p, g := range e.links.pairs {
		if shut, _ := g.status(); shut {
			cuts = append(cuts, p)
		}
	}
	return cuts
}

func TestPartitionCutsLinksBetweenTheSides(t *testing.T) {
	e := fourLinked()
	require.NoError(t, e.Partition(e.servers[1], e.servers[3]))
	apart := []pair{{1, 2}, {1, 4}, {2, 3}, {3, 4}}
	require.ElementsMatch(t, apart, e.cuts())
	require.NoError(t, e.Partition(e.servers[0], e.servers[1]))
	require.ElementsMatch(t, append(apart, pair{1, 3}, pair{2, 4}), e.cuts(),
		"the two are together now, but were cut apart before")
	require.NoError(t, e.Heal())
	require.Empty(t, e.cuts())
	require.NoError(t, e.Heal(), "there is nothing to heal")
}
