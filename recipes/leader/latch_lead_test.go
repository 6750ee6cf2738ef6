package leader_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// finishing is how long the work of leading takes to stop.
const finishing = 2 * time.Second

// leading is a call of Lead. The work goes on until its context ends, and then
// takes its time to finish.
type leading struct {
	w       *world
	client  *framework.Client
	network *recipetest.Network
	latch   *leader.Latch
	stop    context.CancelCauseFunc // ends Lead's context

	leases   chan *locks.Lease // those that have begun
	causes   chan error        // why the work's context ended
	returned chan time.Time    // when the work returned
	result   chan error        // what Lead returned
	enough   chan struct{}     // closed to let the work return by itself
}

var errFinishing = errors.New("could not finish")

// leads runs Lead until the latch leads, with another latch in line behind it.
func leads(t *testing.T, w *world, client []framework.Option, opts ...leader.Option) (*leading, *leader.Latch) {
	t.Helper()
	l := &leading{
		w: w, leases: make(chan *locks.Lease, 9), causes: make(chan error, 9), returned: make(chan time.Time, 9),
		result: make(chan error, 1), enough: make(chan struct{}),
	}
	l.client, l.network = w.Connect(t, client...)
	l.latch = latch(t, l.client, "/l", opts...)
	ctx, stop := context.WithCancelCause(w.Patience(t))
	l.stop = stop
	go func() { l.result <- l.latch.Lead(ctx, l.work) }()
	<-l.leases
	other, _ := w.Connect(t)
	next := latch(t, other, "/l")
	w.WaitNodes(t, "/l", 2)
	return l, next
}

func (l *leading) work(ctx context.Context) error {
	lease, _ := locks.LeaseFromContext(ctx)
	l.leases <- lease
	select {
	case <-ctx.Done():
		l.causes <- context.Cause(ctx)
		time.Sleep(finishing)
	case <-l.enough:
	}
	l.returned <- time.Now()
	return errFinishing
}

// Each row is a row of the table in the documentation of Lead.
func TestEveryEndOfALeadership(t *testing.T) {
	stopped := errors.New("service stops")
	var soon, late = time.Minute, finishing / 2
	handOver := func(patience time.Duration) func(t *testing.T, l *leading) {
		return func(t *testing.T, l *leading) { go l.latch.HandOver(recipetest.Within(t, patience)) }
	}
	revoke := func(t *testing.T, l *leading) {
		require.NoError(t, locks.Revoke(t.Context(), l.w.Observer, l.latch.Leadership().Path()))
	}
	for name, row := range map[string]struct {
		trigger func(t *testing.T, l *leading)
		client  []framework.Option
		opts    []leader.Option
		cause   error         // why the work's context ends; nil if it does not end
		after   time.Duration // time from the trigger to that end
		waits   bool          // the next candidate leads only when the work has returned
		stays   bool          // the same latch leads again, and no other does
		result  []error       // what Lead returns; nil if Lead goes on
	}{
		"work returns": {trigger: func(_ *testing.T, l *leading) { close(l.enough) }, waits: true, result: []error{errFinishing}},
		"ctx ends": {
			trigger: func(_ *testing.T, l *leading) { l.stop(stopped) },
			cause:   stopped, waits: true, result: []error{context.Canceled, stopped, errFinishing},
		},
		"hand-over":                {trigger: handOver(soon), cause: locks.ErrRevoked, waits: true},
		"hand-over, impatient":     {trigger: handOver(late), cause: locks.ErrRevoked},
		"hand-over, with grace":    {trigger: handOver(soon), opts: grace(5), cause: locks.ErrRevoked, after: 5 * time.Second, waits: true},
		"revocation":               {trigger: revoke, cause: locks.ErrRevoked},
		"revocation, with grace":   {trigger: revoke, opts: grace(5), cause: locks.ErrRevoked, after: 5 * time.Second},
		"resignation":              {trigger: func(t *testing.T, l *leading) { require.NoError(t, l.latch.Resign(t.Context())) }, cause: locks.ErrReleased},
		"session lost":             {trigger: func(_ *testing.T, l *leading) { l.w.Fake.Session(l.client.SessionID()).Expire() }, cause: framework.ErrSessionLost},
		"interruption, not minded": {trigger: func(_ *testing.T, l *leading) { l.network.Cut(); close(l.enough) }, waits: true, result: []error{errFinishing}},
		"interruption": {
			trigger: func(_ *testing.T, l *leading) { l.network.Cut() },
			client:  []framework.Option{framework.WithErrorPolicy(state.StandardPolicy)}, cause: framework.ErrSuspended, stays: true,
		},
		"node deleted": {
			trigger: func(t *testing.T, l *leading) {
				require.NoError(t, l.w.Observer.Delete(t.Context(), l.latch.Leadership().Path(), framework.AnyVersion))
			},
			cause: locks.ErrNodeDeleted,
		},
		"shutdown": {
			trigger: func(t *testing.T, l *leading) { require.NoError(t, l.latch.Shutdown(t.Context())) },
			cause:   locks.ErrReleased, result: []error{leader.ErrClosed},
		},
		"client closed": {
			trigger: func(_ *testing.T, l *leading) { l.client.Close() },
			cause:   framework.ErrClosed, result: []error{framework.ErrClosed},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				l, next := leads(t, w, row.client, row.opts...)
				first := l.latch.Leadership()
				done := time.Now()
				row.trigger(t, l)
				if row.cause != nil {
					require.ErrorIs(t, <-l.causes, row.cause)
					require.InDelta(t, row.after, time.Since(done), float64(finishing/10))
				}
				if row.stays {
					require.Equal(t, first.Path(), (<-l.leases).Path(), "with the same node")
				} else {
					w.await(t, next)
					led := time.Now()
					require.Equal(t, row.waits, !led.Before(<-l.returned), "the next waits for the work")
					require.Error(t, first.Context().Err())
				}
				if row.result == nil && !row.stays {
					require.NoError(t, next.Shutdown(t.Context()))
					require.Greater(t, (<-l.leases).FencingToken(), first.FencingToken(), "it leads again")
				}
				if row.result == nil { // Lead goes on
					require.NoError(t, l.latch.Shutdown(t.Context()))
					row.result = []error{leader.ErrClosed}
				}
				err := <-l.result
				for _, want := range row.result {
					require.ErrorIs(t, err, want)
				}
				w.closeAll(t, "/l", next, l.latch)
			})
		})
	}
}

func grace(seconds int) []leader.Option {
	return []leader.Option{leader.WithGrace(time.Duration(seconds) * time.Second)}
}

// A hand-over takes as long as the work needs to stop. It does not use up all
// the time that it may take.
//
// Promise: A leader that is asked to step down stops its work before the next leader starts.
func TestHandOverTakesAsLongAsTheWork(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		l, next := leads(t, w, nil)
		start := time.Now()
		require.NoError(t, l.latch.HandOver(recipetest.Within(t, time.Minute)))
		require.Equal(t, finishing, time.Since(start))
		w.await(t, next)
		require.Equal(t, finishing, time.Since(start))
		w.closeAll(t, "/l", l.latch, next)
		require.ErrorIs(t, <-l.result, leader.ErrClosed)
	})
}

// The work of a leader that is asked to step down may return before its grace
// ends.
func TestWorkMayStopWithinItsGrace(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		latches, _ := w.startLatches(t, "/l", 2, leader.WithGrace(time.Minute))
		result := make(chan error, 1)
		go func() {
			result <- latches[0].Lead(t.Context(), func(ctx context.Context) error {
				lease, _ := locks.LeaseFromContext(ctx)
				<-lease.Revoked()
				assert.NoError(t, ctx.Err())
				return errFinishing // Lead goes on after this error, since the work was asked to stop
			})
		}()
		start := time.Now()
		synctest.Wait()
		require.NoError(t, locks.Revoke(t.Context(), w.Observer, latches[0].Leadership().Path()))
		w.await(t, latches[1])
		require.Zero(t, time.Since(start))
		w.closeAll(t, "/l", latches...)
		require.ErrorIs(t, <-result, leader.ErrClosed)
	})
}

// A node that cannot be deleted keeps all candidates from leading. So Lead
// returns.
func TestLeadTellsThatItsNodeStays(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		l := latch(t, c, "/l")
		w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.Fail(zktest.ErrNoAuth)})
		err := l.Lead(t.Context(), func(context.Context) error { return nil })
		require.ErrorIs(t, err, zk.ErrNoAuth)
		c.Close()
	})
}

func TestLeadThatCannotBegin(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		work := func(context.Context) error { t.Error("it does not lead"); return nil }
		l := latch(t, c, "/l")
		require.ErrorIs(t, l.Lead(t.Context(), nil), zk.ErrBadArguments)
		require.ErrorIs(t, l.Lead(recipetest.Within(t, 0), work), context.DeadlineExceeded)
		require.ErrorIs(t, l.Lead(t.Context(), func(ctx context.Context) error { return l.Lead(ctx, work) }), leader.ErrRunning)
		w.closeAll(t, "/l", l)
	})
}
