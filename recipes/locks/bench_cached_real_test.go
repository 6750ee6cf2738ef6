//go:build real

package locks_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/locks"
)

// BenchmarkCachedLock compares one acquire and release of a mutex that nobody
// else wants with one of a mutex that is cached. The two sides take turns.
func BenchmarkCachedLock(b *testing.B) {
	srv := zkserver.Start(b)
	c, err := framework.New(srv.Addr(), framework.WithDialer((&net.Dialer{}).DialContext))
	require.NoError(b, err)
	b.Cleanup(func() { c.Close() })
	plain := cycleOf(b, locks.NewInterProcessMutex(c, "/bench/plain"))
	cached := cycleOf(b, locks.NewInterProcessMutex(c, "/bench/cached", locks.WithCachedLock(1<<30, time.Hour)))
	b.Run("uncontended", func(b *testing.B) {
		comparePairs(b, turn{"plain", plain}, turn{"cached", cached})
	})
}
