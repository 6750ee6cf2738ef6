package seat

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Locks for tests that make no request.
var (
	reads  = &Lock{cfg: Config{Kind: "read-", Kinds: []string{"read-", "write-"}, Readers: "read-"}}
	writes = &Lock{cfg: Config{Kind: "write-", Kinds: []string{"read-", "write-"}, Readers: "read-"}}
)

// Waiters leave a line from its middle, its end and its beginning. A waiter that has left
// may leave again.
func TestWaitersLeaveALineInAnyOrder(t *testing.T) {
	a, b, c, d := &waiter{of: reads}, &waiter{of: writes}, &waiter{of: reads}, &waiter{of: reads}
	l := line{a, b, c, d}
	for _, step := range []struct {
		leaves *waiter
		left   line
	}{{b, line{a, c, d}}, {b, line{a, c, d}}, {d, line{a, c}}, {a, line{c}}, {c, nil}} {
		require.Equal(t, step.leaves == b && len(l) == 4, l.hasWriter())
		l.remove(step.leaves)
		require.Equal(t, step.left, l, "nothing is kept for those who have left")
		require.Equal(t, -1, l.before(step.leaves))
		for i, w := range step.left {
			require.Equal(t, i, l.before(w))
			require.Same(t, step.left[0], l.first())
		}
	}
	require.Nil(t, l.first())
}

// Thousands leave at once, in the worst order.
func BenchmarkThousandsLeave(b *testing.B) {
	for b.Loop() {
		var l line
		for range 10_000 {
			l = append(l, &waiter{of: writes})
		}
		for len(l) > 0 {
			l.remove(l[len(l)-1])
		}
	}
}
