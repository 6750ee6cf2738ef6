package locks_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// BenchmarkCachedLock is an acquire and a release of a lock that nobody else
// wants: one that is cached, and beside it one that is not. The server has no
// network and no disk, so that real ones gain more.
func BenchmarkCachedLock(b *testing.B) {
	for name, opts := range map[string][]locks.MutexOption{
		"plain":  nil,
		"cached": {locks.WithCachedLock(1<<30, time.Hour)},
	} {
		b.Run(name, func(b *testing.B) {
			srv := zktest.Start(b)
			c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()))
			require.NoError(b, err)
			b.Cleanup(func() { c.Close() })
			m := locks.NewInterProcessMutex(c, "/bench/mutex", opts...)
			ctx := b.Context()
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				lease, err := m.Acquire(ctx)
				if err == nil {
					err = lease.Release(ctx)
				}
				if err != nil {
					b.Fatal(err)
				}
				if n++; n == 1 {
					srv.ClearRequests()
				}
			}
			b.ReportMetric(float64(srv.CountRequests(zktest.OpAny))/float64(n), "requests/op")
		})
	}
}
