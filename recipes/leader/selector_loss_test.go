package leader_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
)

// always is the option of selectors that stand again after every leadership.
func always() leader.Option { return leader.WithRequeue(func(error) bool { return true }) }

// TestLeaderSelector#testErrorPolicies: the standard policy ends the work at
// the interruption, and the session policy lets it go on. Under both, the node
// stays until the work returns.
func TestSelectorUnderBothPolicies(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, network := w.Connect(t, framework.WithErrorPolicy(state.StandardPolicy))
		r := w.run(t, c, path, 0, always())
		lease := <-r.leads
		network.Cut()
		require.ErrorIs(t, w.endOf(t, lease), framework.ErrSuspended)
		again := <-r.leads
		require.Greater(t, again.FencingToken(), lease.FencingToken())
		require.ErrorIs(t, r.stop(), context.Canceled)
		w.WaitNodes(t, path, 0)

		c, network = w.Connect(t)
		r = w.run(t, c, path, 0, always())
		lease = <-r.leads
		network.Cut()
		require.NoError(t, c.WaitConnected(ctx))
		require.NoError(t, lease.Context().Err())
		require.Same(t, lease, r.selector.Leadership())
		require.ErrorIs(t, r.stop(), context.Canceled)
		w.NothingLeft(t, path)
	})
}

// Work that goes on after its context has ended is reported. It keeps others
// from leading as long as the session lives. The selector itself does not stand
// again meanwhile.
func TestWorkThatDoesNotReturn(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const overrun, windDown = 10 * time.Second, time.Minute
		written := &recipetest.Log{}
		c, _ := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(written, nil))))
		first := w.run(t, c, "/l", windDown, always())
		lease := <-first.leads
		other, _ := w.Connect(t)
		second := w.run(t, other, "/l", 0)
		w.WaitNodes(t, "/l", 2)
		require.NoError(t, locks.Revoke(t.Context(), other, lease.Path()))
		require.ErrorIs(t, w.endOf(t, lease), locks.ErrRevoked)
		time.Sleep(overrun - time.Nanosecond)
		synctest.Wait()
		require.NotContains(t, written.String(), "leader's work goes on")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Contains(t, written.String(), "leader's work goes on")
		require.Contains(t, written.String(), strings.TrimPrefix(lease.Path(), "/l/"))

		time.Sleep(windDown - overrun - time.Nanosecond)
		synctest.Wait()
		require.Empty(t, second.leads)
		require.Empty(t, first.leads)
		require.Nil(t, first.selector.Leadership(), "it works only")
		require.Len(t, w.Nodes(t, "/l"), 2)
		require.NotContains(t, written.String(), "has ended")
		time.Sleep(time.Nanosecond)
		<-second.leads
		synctest.Wait()
		require.Contains(t, written.String(), "leader's work has ended")
		require.ErrorIs(t, second.stop(), context.Canceled)
		<-first.leads
		require.ErrorIs(t, first.stop(), context.Canceled)
		w.NothingLeft(t, "/l")
	})
}

// If the session is lost, others may lead although such work goes on. The
// selector itself does not stand again, even then.
func TestWorkThatSurvivesItsSession(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const windDown = time.Hour
		c, network := w.Connect(t)
		first := w.run(t, c, "/l", windDown, always())
		lease := <-first.leads
		network.Expire(t)
		w.endOf(t, lease)
		time.Sleep(windDown / 2)
		require.Empty(t, first.leads)
		require.Nil(t, first.selector.Leadership())
		require.Empty(t, w.Nodes(t, "/l"))
		other, _ := w.Connect(t)
		second := w.run(t, other, "/l", 0)
		require.Greater(t, (<-second.leads).FencingToken(), lease.FencingToken())
		require.ErrorIs(t, second.stop(), context.Canceled)
		<-first.leads
		require.ErrorIs(t, first.stop(), context.Canceled)
		w.NothingLeft(t, "/l")
	})
}
