package leader_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// startSelectors starts two selectors of two clients that stand again after
// every leadership. It returns them with the first one's lease.
func (w *world) startSelectors(t *testing.T, path string, windDown time.Duration, opts ...leader.Option) (first, second *running, lease *locks.Lease) {
	t.Helper()
	c, _ := w.Connect(t)
	first = w.run(t, c, path, windDown, append(opts, always())...)
	lease = <-first.leads
	other, _ := w.Connect(t)
	second = w.run(t, other, path, windDown, append(opts, always())...)
	w.WaitNodes(t, path, 2)
	return first, second, lease
}

// stopAll stops selectors, and checks that they leave nothing behind.
func (w *world) stopAll(t *testing.T, path string, all ...*running) {
	t.Helper()
	for _, r := range all {
		require.ErrorIs(t, r.stop(), context.Canceled)
	}
	w.NothingLeft(t, path)
}

// TestLeaderSelector#testInterruptLeadership,
// #testInterruptLeadershipWithRequeue: an operator asks the leader to step
// down, twice in a row. Each time the other candidate leads.
func TestSelectorIsRevoked(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		first, second, lease := w.startSelectors(t, path, 0)
		r, other := first, second
		for range 4 {
			require.NoError(t, locks.Revoke(ctx, w.Observer, lease.Path()))
			require.NoError(t, locks.Revoke(ctx, w.Observer, lease.Path()), "of the same leadership")
			require.ErrorIs(t, w.endOf(t, lease), locks.ErrRevoked)
			lease = <-other.leads
			require.Empty(t, r.leads)
			w.WaitNodes(t, path, 2)
			r, other = other, r
		}
		w.stopAll(t, path, first, second)
	})
}

// Resign waits for the work. CURATOR-518: it does not touch the leadership that
// follows from the requeue.
func TestSelectorResigns(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		r := w.run(t, c, path, 0, always())
		lease := <-r.leads
		for range 3 {
			require.NoError(t, r.selector.Resign(ctx))
			require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrRevoked)
			next := <-r.leads
			require.Greater(t, next.FencingToken(), lease.FencingToken())
			require.NoError(t, next.Context().Err())
			lease = next
		}
		w.stopAll(t, path, r)
		require.ErrorIs(t, r.selector.Resign(ctx), leader.ErrNotLeader)
		require.ErrorIs(t, r.selector.HandOver(ctx), leader.ErrNotLeader)
	})
}

// Resign and HandOver wait for the work until their context ends, and no
// longer. The leadership ends, and the node stays until the work returns.
func TestSelectorsWorkTakesLongerThanItsResignation(t *testing.T) {
	for name, stepDown := range map[string]func(*leader.Selector, context.Context) error{
		"resign": (*leader.Selector).Resign, "hand over": (*leader.Selector).HandOver,
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				first, second, lease := w.startSelectors(t, "/l", time.Minute)
				start := time.Now()
				require.ErrorIs(t, stepDown(first.selector, recipetest.Within(t, time.Second)), context.DeadlineExceeded)
				require.Equal(t, time.Second, time.Since(start))
				require.ErrorIs(t, w.endOf(t, lease), locks.ErrRevoked)
				synctest.Wait()
				require.Empty(t, second.leads)
				<-second.leads
				require.GreaterOrEqual(t, time.Since(start), time.Minute)
				w.stopAll(t, "/l", second, first)
			})
		})
	}
}

// A hand-over in time: the work is asked to stop, and returns by itself.
func TestSelectorHandsOverInTime(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		s := leader.NewSelector(c, path)
		began := make(chan struct{})
		result := make(chan error, 1)
		go func() {
			result <- s.Run(ctx, func(ctx context.Context) error {
				lease, _ := locks.LeaseFromContext(ctx)
				close(began)
				<-lease.Revoked()
				return ctx.Err()
			})
		}()
		<-began
		require.ErrorIs(t, s.HandOver(ctx), leader.ErrNoSuccessor)
		other, _ := w.Connect(t)
		second := w.run(t, other, path, 0)
		w.WaitNodes(t, path, 2)
		require.NoError(t, s.HandOver(ctx))
		require.NoError(t, <-result, "the work was not stopped")
		<-second.leads
		w.stopAll(t, path, second)
	})
}

// A revocation with grace ends the work when the grace ends. A hand-over that
// is under way returns then.
func TestSelectorsGrace(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		first, second, lease := w.startSelectors(t, "/l", 0, leader.WithGrace(time.Minute))
		start := time.Now()
		handed := make(chan error)
		go func() { handed <- first.selector.HandOver(recipetest.Within(t, time.Hour)) }()
		<-lease.Revoked()
		require.NoError(t, locks.Revoke(t.Context(), w.Observer, lease.Path()))
		require.NoError(t, <-handed)
		require.Equal(t, time.Minute, time.Since(start))
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrRevoked)
		<-second.leads
		w.stopAll(t, "/l", second, first)
	})
}
