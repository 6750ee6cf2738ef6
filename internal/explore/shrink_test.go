package explore

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Runs that do not end would keep a search for hours after its time is over.
func TestAFailureIsMadeShorterInTime(t *testing.T) {
	f := &failure{choices: choices{{3, 1}, {5, 2}}}
	se := &search{} // it has nobody to play
	require.Same(t, f, se.shrink(f, -1))
}
