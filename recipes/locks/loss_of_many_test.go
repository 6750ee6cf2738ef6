package locks_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
	"github.com/gocurator/curator/testing/zktest"
)

// acquireMany acquires n locks of one client.
func acquireMany(t *testing.T, c *framework.Client, n int) []*locks.Lease {
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
	locktest.Spy
	leases []*locks.Lease
	once   sync.Once
	alive  int
}

func (l *lossTracer) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	return ctx, locktest.Calls(l.told)
}

func (l *lossTracer) told(told any) {
	if _, ended := told.(locktrace.HoldEnd); ended {
		l.once.Do(l.countAlive)
	}
	l.Told(told)
}

func (l *lossTracer) countAlive() {
	for _, lease := range l.leases {
		if lease.Context().Err() == nil {
			l.alive++
		}
	}
}

// All contexts end before the client does anything else.
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
		require.Zero(t, tracer.alive, "leases alive when the tracer received the first loss")
	})
}
