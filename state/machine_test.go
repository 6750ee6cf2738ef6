package state

import (
	"testing"

	"github.com/stretchr/testify/require"
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

func TestEveryTransition(t *testing.T) {
	for _, tc := range []struct {
		from string
		in   Input
		want []State
	}{
		{"Initial", Disconnected(), []State{Suspended}},
		{"Initial", Expired(), []State{Lost}},
		{"Initial", Established(1), []State{Connected}},

		{"Suspended, never connected", Disconnected(), nil},
		{"Suspended, never connected", Expired(), []State{Lost}},
		{"Suspended, never connected", Established(1), []State{Connected}},

		{"Lost, never connected", Disconnected(), nil},
		{"Lost, never connected", Expired(), nil},
		{"Lost, never connected", Established(1), []State{Connected}},

		{"Connected", Disconnected(), []State{Suspended}},
		{"Connected", Expired(), []State{Lost}},
		{"Connected", Established(1), nil},
		{"Connected", Established(2), []State{Lost, Reconnected}},

		{"Suspended", Disconnected(), nil},
		{"Suspended", Expired(), []State{Lost}},
		{"Suspended", Established(1), []State{Reconnected}},
		{"Suspended", Established(2), []State{Lost, Reconnected}},

		{"Reconnected", Disconnected(), []State{Suspended}},
		{"Reconnected", Expired(), []State{Lost}},
		{"Reconnected", Established(1), nil},
		{"Reconnected", Established(2), []State{Lost, Reconnected}},

		{"Lost", Disconnected(), nil},
		{"Lost", Expired(), nil},
		{"Lost", Established(2), []State{Reconnected}},

		{"Lost after Suspended", Disconnected(), nil},
		{"Lost after Suspended", Expired(), nil},
		{"Lost after Suspended", Established(2), []State{Reconnected}},
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

// A history is a longer sequence of inputs, as a service would see them.
func TestHistories(t *testing.T) {
	for name, tc := range map[string]struct {
		in   []Input
		want []State
	}{
		"short outage": {
			[]Input{Established(1), Disconnected(), Disconnected(), Established(1)},
			[]State{Connected, Suspended, Reconnected},
		},
		"long outage": {
			[]Input{Established(1), Disconnected(), Expired(), Disconnected(), Established(2)},
			[]State{Connected, Suspended, Lost, Reconnected},
		},
		"connected is told once, even after losing the first try": {
			[]Input{Disconnected(), Expired(), Established(1), Expired(), Established(2)},
			[]State{Suspended, Lost, Connected, Lost, Reconnected},
		},
		"session replaced without a word": {
			[]Input{Established(1), Disconnected(), Established(2), Disconnected(), Established(2)},
			[]State{Connected, Suspended, Lost, Reconnected, Suspended, Reconnected},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var m Machine
			var got []State
			for _, i := range tc.in {
				got = append(got, m.Apply(i)...)
			}
			require.Equal(t, tc.want, got)
		})
	}
}

func TestErrorPolicies(t *testing.T) {
	for _, s := range []State{Initial, Connected, Suspended, Reconnected, Lost} {
		require.Equal(t, s == Lost, SessionPolicy.IsError(s), s)
		require.Equal(t, s == Lost || s == Suspended, StandardPolicy.IsError(s), s)
		require.Equal(t, s == Connected || s == Reconnected, s.IsConnected(), s)
	}
}

func TestNames(t *testing.T) {
	require.Equal(t, "Reconnected", Reconnected.String())
	require.Equal(t, "State(9)", State(9).String())
	require.Equal(t, "SessionPolicy", SessionPolicy.String())
	require.Equal(t, "StandardPolicy", StandardPolicy.String())
}
