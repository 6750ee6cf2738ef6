package connstate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/state"
)

// input is one call of a Machine.
type input struct {
	name  string
	apply func(m *Machine) []state.State
}

var (
	disconnected = input{"disconnected", (*Machine).Disconnected}
	expired      = input{"expired", (*Machine).Expired}
	established1 = input{"established1", func(m *Machine) []state.State { return m.Established(1) }}
	established2 = input{"established2", func(m *Machine) []state.State { return m.Established(2) }}
)

// in names situations by the inputs that lead a new machine there. The
// transitions on the way are not checked.
var in = map[string][]input{
	"Initial":                    {},
	"Suspended, never connected": {disconnected},
	"Lost, never connected":      {disconnected, expired},
	"Connected":                  {established1},
	"Suspended":                  {established1, disconnected},
	"Reconnected":                {established1, disconnected, established1},
	"Lost":                       {established1, expired},
	"Lost after Suspended":       {established1, disconnected, expired},
}

// Promise: Every transition of the connection state is reported, in order.
func TestEveryTransition(t *testing.T) {
	for _, tc := range []struct {
		from string
		in   input
		want []state.State
	}{
		{"Initial", disconnected, []state.State{state.Suspended}},
		{"Initial", expired, []state.State{state.Lost}},
		{"Initial", established1, []state.State{state.Connected}},

		{"Suspended, never connected", disconnected, nil},
		{"Suspended, never connected", expired, []state.State{state.Lost}},
		{"Suspended, never connected", established1, []state.State{state.Connected}},

		{"Lost, never connected", disconnected, nil},
		{"Lost, never connected", expired, nil},
		{"Lost, never connected", established1, []state.State{state.Connected}},

		{"Connected", disconnected, []state.State{state.Suspended}},
		{"Connected", expired, []state.State{state.Lost}},
		{"Connected", established1, nil},
		{"Connected", established2, []state.State{state.Lost, state.Reconnected}},

		{"Suspended", disconnected, nil},
		{"Suspended", expired, []state.State{state.Lost}},
		{"Suspended", established1, []state.State{state.Reconnected}},
		{"Suspended", established2, []state.State{state.Lost, state.Reconnected}},

		{"Reconnected", disconnected, []state.State{state.Suspended}},
		{"Reconnected", expired, []state.State{state.Lost}},
		{"Reconnected", established1, nil},
		{"Reconnected", established2, []state.State{state.Lost, state.Reconnected}},

		{"Lost", disconnected, nil},
		{"Lost", expired, nil},
		{"Lost", established2, []state.State{state.Reconnected}},

		{"Lost after Suspended", disconnected, nil},
		{"Lost after Suspended", expired, nil},
		{"Lost after Suspended", established2, []state.State{state.Reconnected}},
	} {
		t.Run(tc.from+"/"+tc.in.name, func(t *testing.T) {
			var m Machine
			for _, i := range in[tc.from] {
				i.apply(&m)
			}
			before := m.cur

			require.Equal(t, tc.want, tc.in.apply(&m))

			after := before
			if len(tc.want) > 0 {
				after = tc.want[len(tc.want)-1]
			}
			require.Equal(t, after, m.cur)
		})
	}
}
