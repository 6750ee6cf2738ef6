package trace_test

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/internal/trace"
	"github.com/gocurator/curator/recipes/locktrace"
)

// tracer follows one hold. It has no lock, so that the race detector sees calls at the
// same time.
type tracer struct {
	locktrace.AcquireTracer
	calls []string
}

func (t *tracer) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	return ctx, t
}

func (t *tracer) StartHold(locktrace.Hold) locktrace.HoldTracer { return follower{t} }

// follower is the tracer during a hold.
type follower struct{ *tracer }

func (follower) Context(ctx context.Context) context.Context { return ctx }
func (follower) Reentered()                                  {}
func (f follower) Revoked()                                  { f.calls = append(f.calls, "revoked") }
func (f follower) Ended(end locktrace.HoldEnd)               { f.calls = append(f.calls, string(end.Cause)) }
func (follower) Overrun() (returned func())                  { return nil }

// The emitter reports a request to give the lock up while a release reports the end.
//
// Promise: A hold's hooks are called by one goroutine at a time, and Ended is the last call.
func TestNothingFollowsTheEndOfAHold(t *testing.T) {
	h := &tracer{}
	c, err := framework.New("127.0.0.1:1", framework.WithHooks(h),
		framework.WithDialer(func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}))
	require.NoError(t, err)
	what := locktrace.Acquire{Client: c, Path: "/lock", Recipe: locktrace.RecipeMutex, Leases: 1}
	for range thorough.Size(300_000, 50_000) {
		ctx, acquired := trace.StartAcquire(context.Background(), what)
		hold, _ := trace.StartHold(ctx, what, locktrace.Hold{Node: "/lock/lock-0000000000"}, acquired)
		h.calls = nil
		var both sync.WaitGroup
		both.Go(hold.Revoked)
		both.Go(func() { hold.Released(nil) })
		both.Wait()
		done := make(chan struct{})
		insider.Of(c).Emit(func() { close(done) })
		<-done
		require.Equal(t, "released", h.calls[len(h.calls)-1], "%v", h.calls)
	}
	require.NoError(t, c.Close())
}
