package recipes

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// Without a tracer the way through an acquire that tells of itself allocates nothing more than the lease.
func TestNoTracerNoAllocation(t *testing.T) {
	dialing := make(chan struct{})
	c, err := framework.New("127.0.0.1:1", framework.WithSessionTimeout(time.Hour),
		framework.WithDialer(func(ctx context.Context, _, _ string) (net.Conn, error) {
			close(dialing)
			<-ctx.Done()
			return nil, ctx.Err()
		}))
	require.NoError(t, err)
	defer c.Close()
	<-dialing // from here on the client allocates nothing, either
	m := NewInterProcessMutex(c, "/lock")
	ctx := context.Background()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		during, try := begin(ctx, m.describe(true))
		try.trace.queuedLocally(1)
		try.trace.isHandedOver()
		if try.trace.observer() != nil || try.trace.link() != nil || during != ctx {
			panic("somebody is told")
		}
		try.trace.ended(nil, nil)
	}))

	h := &hold{ctx: ctx, client: c}
	lease := &Lease{hold: h, ctx: ctx}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		h.follow(lease, m.describe(true), nil)
		h.followed().reentered(ctx)
		h.followed().revoked()
		h.followed().releasing()
		h.followed().released(ctx, nil)
	}))
}

func BenchmarkNoTracer(b *testing.B) {
	c, err := framework.New("nowhere.invalid")
	require.NoError(b, err)
	defer c.Close()
	m := NewInterProcessMutex(c, "/lock")
	h := &hold{ctx: b.Context(), client: c}
	lease := &Lease{hold: h, ctx: h.ctx}
	b.ReportAllocs()
	for b.Loop() {
		what := m.describe(true)
		_, try := begin(h.ctx, what)
		try.trace.ended(h, nil)
		h.follow(lease, what, try.trace)
		h.followed().released(h.ctx, nil)
	}
}
