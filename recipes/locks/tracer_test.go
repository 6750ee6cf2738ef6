package locks_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
	"github.com/gocurator/curator/testing/zktest"
)

// When Close has returned, the tracer has received every end, and the log has every
// line. The scheduler decides in which order. In real time, Close would stop waiting
// after a second, which a busy machine may need. The tracer and the buffer have no
// lock, so that the race detector sees a late call.
func TestCloseHasToldTheEndOfEveryHold(t *testing.T) {
	const holds = 30
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			srv := zktest.Start(t)
			tracer := &locktest.Spy{}
			var log strings.Builder
			c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()), framework.WithHooks(tracer),
				framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			require.NoError(t, err)
			for i := range holds {
				locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, fmt.Sprintf("/lock-%d", i)))
			}
			require.NoError(t, c.Close())
			require.EqualValues(t, holds, tracer.Ended.Load())
			require.Equal(t, holds, strings.Count(log.String(), `msg="lock lost"`))
		})
	}
}

type lossKey struct{}

// carrier is a log handler that notes the values in the contexts of its lines.
type carrier struct {
	slog.Handler
	carried *[]string
}

func (c carrier) Handle(ctx context.Context, line slog.Record) error {
	carried, _ := ctx.Value(lossKey{}).(string)
	*c.carried = append(*c.carried, line.Message+": "+carried)
	return nil
}

// A log handler can find the span of the work that has lost its lock by the
// context of the line.
func TestLossIsLoggedWithTheContextOfTheWork(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var carried []string
		c, _ := w.Connect(t, framework.WithHooks(&marking{}), framework.WithLogger(
			slog.New(carrier{slog.NewTextHandler(nil, nil), &carried})))
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), lossKey{}, "the caller's"))
		lease := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, "/lock"))
		cancel()
		w.Fake.Session(c.SessionID()).Expire()
		<-lease.Context().Done()
		require.NoError(t, c.Close())
		require.Contains(t, carried, "lock lost: the caller's, in the hold")
	})
}

// marking is a tracer that marks the contexts of holds.
type marking struct{ locktest.Spy }

func (m *marking) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	return ctx, markingAcquire{m.Told}
}

type markingAcquire struct{ locktest.Calls }

func (m markingAcquire) StartHold(locktrace.Hold) locktrace.HoldTracer {
	return markingHold{locktest.CallsOfHold(m.Calls)}
}

type markingHold struct{ locktest.CallsOfHold }

func (markingHold) Context(ctx context.Context) context.Context {
	mark, _ := ctx.Value(lossKey{}).(string)
	return context.WithValue(ctx, lossKey{}, mark+", in the hold")
}

// ending is a tracer that ends the context of the work at once.
type ending struct{ locktest.Spy }

func (e *ending) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	return ctx, endingAcquire{e.Told}
}

type endingAcquire struct{ locktest.Calls }

func (e endingAcquire) StartHold(locktrace.Hold) locktrace.HoldTracer {
	return endingHold{locktest.CallsOfHold(e.Calls)}
}

type endingHold struct{ locktest.CallsOfHold }

func (endingHold) Context(ctx context.Context) context.Context {
	ctx, end := context.WithCancel(ctx)
	end()
	return ctx
}

// A tracer that has ended the context of the work receives the end of the hold, too.
func TestTracerThatEndsTheWorkReceivesTheEnd(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		tracer := &ending{}
		c, _ := w.Connect(t, framework.WithHooks(tracer))
		lease := hold(t, t.Context(), mutexAt(c))
		require.ErrorIs(t, lease.Release(t.Context()), context.Canceled)
		synctest.Wait()
		require.EqualValues(t, 1, tracer.Ended.Load())
		w.NothingLeft(t, "/l")
	})
}
