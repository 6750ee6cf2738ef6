package state_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/state"
)

func TestErrorPolicies(t *testing.T) {
	for _, s := range []state.State{state.Initial, state.Connected, state.Suspended, state.Reconnected, state.Lost} {
		require.Equal(t, s == state.Lost, state.SessionPolicy.IsError(s), s)
		require.Equal(t, s == state.Lost || s == state.Suspended, state.StandardPolicy.IsError(s), s)
		require.Equal(t, s == state.Connected || s == state.Reconnected, s.IsConnected(), s)
	}
}

func TestNames(t *testing.T) {
	require.Equal(t, "Reconnected", state.Reconnected.String())
	require.Equal(t, "State(9)", state.State(9).String())
	require.Equal(t, "SessionPolicy", state.SessionPolicy.String())
	require.Equal(t, "StandardPolicy", state.StandardPolicy.String())
}
