//go:build real

package locks_test

import (
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/locks"
)

// BenchmarkMultiLock compares one acquire and release of mutexes that are taken
// one after the other with one of the same number that are taken by a
// transaction. The two sides take turns.
func BenchmarkMultiLock(b *testing.B) {
	srv := zkserver.Start(b)
	c, err := framework.New(srv.Addr(), framework.WithDialer((&net.Dialer{}).DialContext))
	require.NoError(b, err)
	b.Cleanup(func() { c.Close() })
	for _, n := range []int{3, 8} {
		b.Run(fmt.Sprint("locks=", n), func(b *testing.B) {
			one := cycleOf(b, locks.NewInterProcessMultiLock(locks.SortedMutexes(c, pathsBelow("/bench/one", n))...))
			together := cycleOf(b, locks.NewAtomicMultiLock(c, pathsBelow("/bench/together", n)))
			comparePairs(b, turn{"one-by-one", one}, turn{"together", together})
		})
	}
}
