package snapshot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/flight"
)

func TestEveryKindOfEventIsShown(t *testing.T) {
	const last = flight.NodeOverwritten
	for k := flight.None + 1; k <= last; k++ {
		require.NotEmpty(t, eventOf(flight.Event{Kind: k}).Kind, k)
	}
	require.Len(t, kinds, int(last))
}
