package seat

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/trace"
	"github.com/gocurator/curator/recipes/locktrace"
)

// Without a hook, reports of an acquire allocate nothing. The acquire allocates only the
// lease.
func TestNoTracerNoAllocation(t *testing.T) {
	c := aClient(t)
	what := locktrace.Acquire{Client: c, Path: "/lock", Recipe: locktrace.RecipeMutex, Leases: 1}
	ctx := context.Background()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		during, told := trace.StartAcquire(ctx, what)
		told.QueuedLocally(1)
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
