package recipes_test

import (
	"context"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"
)

// A caller with less time than the connection timeout waits for what somebody
// else reads or writes. It learns that there is no connection, and why.
func TestShortWaitsTellWhyThereIsNoConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.srv.Stop()
		c := s.connect(t)
		value, err := shared.NewCount(c, "/value", 1)
		require.NoError(t, err)
		defer value.Close()
		tree, err := cache.New(c, "/tree")
		require.NoError(t, err)
		defer tree.Close()
		number := atomic.NewLong(c, "/number")
		latch, err := leader.NewLatch(c, "/latch")
		require.NoError(t, err)
		for name, call := range map[string]func(context.Context) error{
			"cache":       tree.WaitSynced,
			"value":       value.WaitSynced,
			"atomic add":  func(ctx context.Context) error { _, err := number.Add(ctx, 1); return err },
			"latch":       func(ctx context.Context) error { _, err := latch.WaitLeadership(ctx); return err },
			"atomic load": func(ctx context.Context) error { _, err := number.Load(ctx); return err },
			"barrier":     barriers.NewBarrier(c, "/barrier").Wait,
			"double barrier": func(ctx context.Context) error {
				_, err := barriers.NewDoubleBarrier(c, "/double", 1).Enter(ctx)
				return err
			},
			"walk": func(ctx context.Context) error {
				for _, err := range inspect.Walk(ctx, c, "/") {
					return err
				}
				return nil
			},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			err := call(ctx)
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded, name)
			require.ErrorIs(t, err, framework.ErrNotConnected, name)
			require.ErrorIs(t, err, syscall.ECONNREFUSED, name)
			require.NotErrorIs(t, err, framework.ErrOutcomeUnknown, name)
			require.ErrorContains(t, err, "last attempt: ", name)
		}
	})
}

// The connection ends with a request under way, and does not come back. Callers who
// wait learn of the outage, and not only of that request.
func TestOutageIsToldInPlaceOfTheRequestThatItHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		c := s.connect(t)
		require.NoError(t, c.WaitConnected(t.Context()))
		s.srv.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/value", Do: zktest.Call(func(zktest.Request) {
			s.srv.RefuseConnections(true)
			s.srv.CutAll()
		})})
		value, err := shared.NewCount(c, "/value", 1)
		require.NoError(t, err)
		defer value.Close()
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		err = value.WaitSynced(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, framework.ErrNotConnected)
	})
}
