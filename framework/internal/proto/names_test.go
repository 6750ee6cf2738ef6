package proto

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/jute"
)

// A short list of names is one piece of memory. A name of a long list is kept without
// the others.
func TestShortListsOfNamesAreOnePiece(t *testing.T) {
	for n, allocations := range map[int]float64{0: 1, 1: 2, 60: 2, 1000: 1001} {
		var want []string
		body := jute.AppendInt32(nil, int32(n))
		for i := range n {
			want = append(want, fmt.Sprintf("_c_c5b48a3e-lock-%010d", i))
			body = jute.AppendString(body, want[i])
		}
		body = append(body, make([]byte, statSize)...)
		q := ChildNames("/")
		names, ok := q.Read(body, 0)
		require.True(t, ok)
		require.Equal(t, append([]string{}, want...), names)
		require.LessOrEqual(t, testing.AllocsPerRun(10, func() { q.Read(body, 0) }), allocations, "%d names", n)
	}
}
