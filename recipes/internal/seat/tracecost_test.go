package seat

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/recipes/internal/trace"
	"github.com/gocurator/curator/recipes/locktrace"
)

// Without a tracer and without a flight recorder, reports of an acquire allocate
// nothing. The acquire allocates only the lease.
func TestNoTracerNoAllocation(t *testing.T) {
	c := aClient(t)
	what := locktrace.Acquire{Client: c, Path: "/lock", Recipe: locktrace.RecipeMutex, Leases: 1}
	ctx, since := context.Background(), time.Now()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		during, told := trace.StartAcquire(ctx, what, since)
		told.QueuedLocally(1, nil)
		told.HandedOver()
		if told.Link() != nil || during != ctx {
			panic("somebody is told")
		}
		told.Ended(locktrace.AcquireEnd{})
	}))

	h, lease := aHold(ctx, c)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		h.startTrace(lease, what, nil)
		h.Trace().Reentered()
		h.Trace().Revoked()
		h.Trace().Released(nil)
	}))
}

// The flight recorder has one allocation for an acquire and its hold, and one
// more if the acquire has to wait, once its rings are full.
func TestTheRecordOfAnAcquireIsOneAllocation(t *testing.T) {
	c := aClient(t)
	recorder := insider.Of(c).StartRecorder()
	what := locktrace.Acquire{Client: c, Path: "/lock", Recipe: locktrace.RecipeMutex, Leases: 1}
	ctx, since := context.Background(), time.Now()
	h, lease := aHold(ctx, c)
	node := framework.Created{Path: "/lock/lock-0000000001"}
	ahead := trace.Other{Node: "lock-0000000000"}
	cycle := func(wait bool) {
		_, told := trace.StartAcquire(ctx, what, since)
		told.QueuedLocally(1, nil)
		told.Queued(node, 1, 2)
		if wait {
			told.Waiting(1, time.Time{}, ahead, ahead)
			told.Waiting(1, time.Time{}, ahead, ahead)
		}
		told.Ended(locktrace.AcquireEnd{Outcome: locktrace.Acquired})
		h.startTrace(lease, what, told)
		h.Trace().Revoked()
		h.Trace().Released(nil)
		h.Trace().Gone()
	}
	for range 300 {
		cycle(true)
	}
	require.Equal(t, 1.0, testing.AllocsPerRun(100, func() { cycle(false) }))
	require.Equal(t, 2.0, testing.AllocsPerRun(100, func() { cycle(true) }))
	require.Len(t, recorder.Events(), 2*256)
	require.Empty(t, recorder.Records())
}

// aClient returns a client that allocates nothing, because it waits for its
// dialer.
func aClient(t *testing.T, opts ...framework.Option) *framework.Client {
	dialing := make(chan struct{})
	c, err := framework.New("127.0.0.1:1", append(opts, framework.WithSessionTimeout(time.Hour),
		framework.WithDialer(func(ctx context.Context, _, _ string) (net.Conn, error) {
			close(dialing)
			<-ctx.Done()
			return nil, ctx.Err()
		}))...)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	<-dialing
	return c
}

// aHold returns a hold without any nodes at the server, and a lease of it.
func aHold(ctx context.Context, c *framework.Client) (*Hold, *Lease) {
	s := &Seat{terms: terms{client: c}, nodes: []framework.Created{{Path: "/lock/lock-0000000000"}}, state: Held}
	h := &Hold{seat: s, ctx: ctx}
	return h, &Lease{hold: h, ctx: leaseContext{Context: ctx}}
}
