package recipes_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
)

// spy is a tracer that counts requests to give a leadership up, and can step in when there is a grant.
type spy struct {
	framework.NoTracer
	revoked atomic.Int32
	granted func()                // may be nil; called before the leadership begins
	ended   func(recipes.HoldEnd) // may be nil
}

func (s *spy) StartAcquire(ctx context.Context, _ recipes.Acquire) (context.Context, recipes.AcquireTracer) {
	return ctx, spyOnAcquire{s}
}

type spyOnAcquire struct{ *spy }

func (spyOnAcquire) Trace() map[string]string   { return nil }
func (spyOnAcquire) QueuedLocally(int)          {}
func (spyOnAcquire) Queued(recipes.Queued)      {}
func (spyOnAcquire) Waiting(recipes.Waiting)    {}
func (spyOnAcquire) Woken(bool)                 {}
func (spyOnAcquire) Abandoned(error)            {}
func (spyOnAcquire) Ended(e recipes.AcquireEnd) {}

func (s spyOnAcquire) StartHold(recipes.Hold) recipes.HoldTracer {
	if s.granted != nil {
		s.granted()
	}
	return spyOnHold(s)
}

type spyOnHold struct{ *spy }

func (spyOnHold) Context(ctx context.Context) context.Context { return ctx }
func (spyOnHold) Reentered()                                  {}
func (s spyOnHold) Revoked()                                  { s.revoked.Add(1) }
func (spyOnHold) Overrun() func()                             { return func() {} }

func (s spyOnHold) Ended(end recipes.HoldEnd) {
	if s.ended != nil {
		s.ended(end)
	}
}

// A tracer is told of a hand-over as of every other request to give the leadership up, and once of several.
func TestTracerIsToldOfAHandOver(t *testing.T) {
	for _, revoked := range []bool{false, true} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			tracer := &spy{}
			first, second, lease, _ := w.leaderAndNext(t, "/l", framework.WithTracer(tracer))
			if revoked {
				require.NoError(t, recipes.Revoke(t.Context(), w.observer, lease.Path()))
			}
			go heed(lease)
			if err := first.HandOver(t.Context()); err != nil {
				require.ErrorIs(t, err, recipes.ErrNotLeader, "it has stepped down already")
			}
			w.await(t, second)
			require.EqualValues(t, 1, tracer.revoked.Load())
			w.closeAll(t, "/l", first, second)
		})
	}
}

// A grant that crosses with Close is the beginning of a leadership that ends at once. Readers of Changes are told of both
// by CloseNotify, and of neither by Close.
func TestGrantThatComesWithClose(t *testing.T) {
	for _, notify := range []bool{false, true} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			tracer := &spy{}
			c, _ := w.connect(t, framework.WithTracer(tracer))
			l := recipes.NewLeaderLatch(c, "/l")
			changes := l.Changes(t.Context())
			tracer.granted = func() {
				ctx, cancel := context.WithCancel(context.Background())
				cancel() // it does not wait
				if notify {
					l.CloseNotify(ctx)
				} else {
					l.Close(ctx)
				}
			}
			require.NoError(t, l.Start())
			heard := slices.Collect(changes)
			if notify {
				require.Len(t, heard, 2)
				require.NoError(t, heard[0].Ended)
				require.Same(t, heard[0].Lease, heard[1].Lease)
				require.ErrorIs(t, heard[1].Ended, recipes.ErrReleased)
			} else {
				require.Empty(t, heard)
			}
			require.ErrorIs(t, l.Err(), recipes.ErrClosed)
			w.closeAll(t, "/l", l)
		})
	}
}
