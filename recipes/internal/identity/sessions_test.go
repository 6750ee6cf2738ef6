package identity_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/internal/identity"
)

func TestLastSessionsAreRemembered(t *testing.T) {
	var s identity.Sessions
	for id := range int64(100) {
		s.Note(id)
		s.Note(id)
	}
	require.False(t, s.Has(83))
	require.True(t, s.Has(84))
	require.True(t, s.Has(99))
}
