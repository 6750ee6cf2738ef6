package seat

import (
	"testing"

	"github.com/stretchr/testify/require"
)

var allStates = []State{Queueing, Held, Parked, Lost, Deleting, Kept, Gone}

// The table of the package documentation, edge by edge.
func TestEveryTransition(t *testing.T) {
	allowed := map[[2]State]bool{
		{Queueing, Held}: true, {Queueing, Gone}: true,
		{Held, Parked}: true, {Held, Lost}: true, {Held, Deleting}: true,
		{Parked, Held}: true, {Parked, Lost}: true, {Parked, Deleting}: true,
		{Lost, Parked}: true, {Lost, Deleting}: true, {Lost, Kept}: true,
		{Deleting, Gone}: true,
	}
	for _, from := range allStates {
		for _, to := range allStates {
			s := &Seat{state: from}
			require.Equal(t, allowed[[2]State{from, to}], s.become(to), "%v to %v", from, to)
			if !allowed[[2]State{from, to}] {
				require.Equal(t, from, s.State(), "%v to %v", from, to)
			}
		}
	}
}

func TestFinalStatesAreThoseThatEndASeat(t *testing.T) {
	for from, all := range edges {
		for _, to := range all {
			s := &Seat{state: State(from)}
			before := s.Over()
			require.False(t, isClosed(before))
			require.True(t, s.become(to))
			isFinal := to == Kept || to == Gone
			require.Equal(t, isFinal, isClosed(before), "%v to %v", State(from), to)
			require.Equal(t, isFinal, isClosed(s.Over()), "%v to %v", State(from), to)
		}
	}
}
