package order

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Promise: Sequence numbers that the server did not count prove no order.
func TestNumbersThatProveTheOrder(t *testing.T) {
	for _, tc := range []struct {
		ours, ahead int32
		want        bool
	}{
		{1, 0, true},
		{math.MaxInt32 - 1, 0, true},
		{1, 1, false},
		{1, 2, false},
		{math.MaxInt32, 0, false},
		{-5, 0, false},
		{1, -5, false},
		{1, math.MaxInt32, false},
		{math.MaxInt32, math.MaxInt32, false},
	} {
		require.Equal(t, tc.want, Follows(Entry{Seq: tc.ours}, Entry{Seq: tc.ahead}), "%+v", tc)
	}
}
