package state

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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
