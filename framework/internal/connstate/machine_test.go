package connstate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/state"
)

// in names situations by the inputs that lead a new machine there. The
// transitions on the way are not checked.
var in = map[string][]Input{
	"Initial":                    {},
	"Suspended, never connected": {Disconnected()},
	"Lost, never connected":      {Disconnected(), Expired()},
	"Connected":                  {Established(1)},
	"Suspended":                  {Established(1), Disconnected()},
	"Reconnected":                {Established(1), Disconnected(), Established(1)},
	"Lost":                       {Established(1), Expired()},
	"Lost after Suspended":       {Established(1), Disconnected(), Expired()},
}

// Promise: Every transition of the connection state is reported, in order.
func TestEveryTransition(t *testing.T) {
	for _, tc := range []struct {
		from string
		in   Input
		want []state.State
	}{
		{"Initial", Disconnected(), []state.State{state.Suspended}},
		{"Initial", Expired(), []state.State{state.Lost}},
		{"Initial", Established(1), []state.State{state.Connected}},

		{"Suspended, never connected", Disconnected(), nil},
		{"Suspended, never connected", Expired(), []state.State{state.Lost}},
		{"Suspended, never connected", Established(1), []state.State{state.Connected}},

		{"Lost, never connected", Disconnected(), nil},
		{"Lost, never connected", Expired(), nil},
		{"Lost, never connected", Established(1), []state.State{state.Connected}},

		{"Connected", Disconnected(), []state.State{state.Suspended}},
		{"Connected", Expired(), []state.State{state.Lost}},
		{"Connected", Established(1), nil},
		{"Connected", Established(2), []state.State{state.Lost, state.Reconnected}},

		{"Suspended", Disconnected(), nil},
		{"Suspended", Expired(), []state.State{state.Lost}},
		{"Suspended", Established(1), []state.State{state.Reconnected}},
		{"Suspended", Established(2), []state.State{state.Lost, state.Reconnected}},

		{"Reconnected", Disconnected(), []state.State{state.Suspended}},
		{"Reconnected", Expired(), []state.State{state.Lost}},
		{"Reconnected", Established(1), nil},
		{"Reconnected", Established(2), []state.State{state.Lost, state.Reconnected}},

		{"Lost", Disconnected(), nil},
		{"Lost", Expired(), nil},
		{"Lost", Established(2), []state.State{state.Reconnected}},

		{"Lost after Suspended", Disconnected(), nil},
		{"Lost after Suspended", Expired(), nil},
		{"Lost after Suspended", Established(2), []state.State{state.Reconnected}},
	} {
		t.Run(tc.from+"/"+tc.in.name(), func(t *testing.T) {
			var m Machine
			for _, i := range in[tc.from] {
				m.Apply(i)
			}
			before := m.Current()

			require.Equal(t, tc.want, m.Apply(tc.in))

			after := before
			if len(tc.want) > 0 {
				after = tc.want[len(tc.want)-1]
			}
			require.Equal(t, after, m.Current())
		})
	}
}

func (i Input) name() string {
	return [...]string{"disconnected", "expired", "established"}[i.kind] + string(rune('0'+i.session))
}
