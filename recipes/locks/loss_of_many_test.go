package locks_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
	"github.com/gocurator/curator/testing/zktest"
)

// acquireMany acquires n locks of one client.
func acquireMany(t testing.TB, c *framework.Client, n int) []*locks.Lease {
	leases := make([]*locks.Lease, n)
	var all sync.WaitGroup
	const goroutines = 32
	for g := range goroutines {
		all.Go(func() {
			for i := g; i < n; i += goroutines {
				var err error
				if leases[i], err = locks.NewInterProcessMutex(c, fmt.Sprintf("/locks/%d", i)).Acquire(t.Context()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	require.False(t, t.Failed())
	return leases
}

// lossTracer is a tracer. When it learns of the first loss, it counts the
// leases that have not ended.
type lossTracer struct {
	locktest.Valve
	leases []*locks.Lease
	once   sync.Once
	alive  int
}

func (l *lossTracer) StartAcquire(ctx context.Context, a locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	ctx, _ = l.Valve.StartAcquire(ctx, a)
	return ctx, lossTracerOnAcquire{locktest.ValveOnAcquire{Valve: &l.Valve}, l}
}

type lossTracerOnAcquire struct {
	locktest.ValveOnAcquire
	of *lossTracer
}

func (l lossTracerOnAcquire) StartHold(h locktrace.Hold) locktrace.HoldTracer {
	return lossTracerOnHold{locktest.ValveOnHold(l.ValveOnAcquire), l.of}
}

type lossTracerOnHold struct {
	locktest.ValveOnHold
	of *lossTracer
}

func (l lossTracerOnHold) Ended(end locktrace.HoldEnd) {
	l.of.once.Do(func() {
		for _, lease := range l.of.leases {
			if lease.Context().Err() == nil {
				l.of.alive++
			}
		}
	})
	l.ValveOnHold.Ended(end)
}

// All contexts end before the client does anything else. The test runs in real
// time, because the scheduler decides whether that holds.
func TestContextsOfALostSessionEndBeforeAnybodyIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := thorough.Size(2000, 500)
		srv := zktest.Start(t)
		tracer := &lossTracer{}
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()), framework.WithHooks(tracer))
		require.NoError(t, err)
		tracer.leases = acquireMany(t, c, leases)
		srv.Session(c.SessionID()).Expire()
		<-tracer.leases[0].Context().Done()
		require.NoError(t, c.Close())
		require.EqualValues(t, leases, tracer.Ended.Load())
		require.Zero(t, tracer.alive, "leases alive when the tracer was told of the first loss")
	})
}

// BenchmarkLossOfManyLeases measures how far apart the contexts of 10,000
// leases end when their session is lost. It measures from the first end that a
// lease's goroutine sees to the last. Each lease has a goroutine that releases
// it then. Go's scheduler has its part in the result, because it wakes 10,000
// goroutines.
func BenchmarkLossOfManyLeases(b *testing.B) {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	for name, opts := range map[string][]framework.Option{
		"plain":  nil,
		"logged": {framework.WithLogger(quiet)},
		"traced": {framework.WithLogger(quiet), framework.WithHooks(&locktest.Valve{})},
	} {
		b.Run(name, func(b *testing.B) {
			var worst, sum time.Duration
			n := 0
			for b.Loop() {
				b.StopTimer()
				apart := loseMany(b, 10_000, opts...)
				worst, sum, n = max(worst, apart), sum+apart, n+1
				b.StartTimer()
			}
			b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
			b.ReportMetric(float64(sum.Microseconds())/1000/float64(n), "mean-ms")
		})
	}
}

func loseMany(b *testing.B, n int, opts ...framework.Option) (apart time.Duration) {
	srv := zktest.Start(b)
	c, err := framework.New(srv.Addr(), append(opts, framework.WithDialer(srv.Dialer()))...)
	require.NoError(b, err)
	leases := acquireMany(b, c, n)
	ends := make([]time.Time, n)
	var all sync.WaitGroup
	for i, lease := range leases {
		all.Go(func() {
			<-lease.Context().Done()
			ends[i] = time.Now()
			lease.Release(b.Context())
		})
	}
	srv.Session(c.SessionID()).Expire()
	all.Wait()
	first, last := ends[0], ends[0]
	for _, end := range ends {
		if end.Before(first) {
			first = end
		}
		if end.After(last) {
			last = end
		}
	}
	require.NoError(b, c.Close())
	srv.Stop()
	return last.Sub(first)
}
