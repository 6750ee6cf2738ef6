//go:build real

package locks_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// BenchmarkCachedReacquire is one acquire and release of a mutex that is cached. It
// makes no request, so that any server does.
func BenchmarkCachedReacquire(b *testing.B) {
	srv := zktest.Start(b)
	c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
	require.NoError(b, err)
	b.Cleanup(func() { c.Close() })
	cycle := cycleOf(b, locks.NewInterProcessMutex(c, "/bench/cached", locks.WithCachedLock(1<<30, time.Hour)))
	cycle()
	b.ReportAllocs()
	for b.Loop() {
		cycle()
	}
}
