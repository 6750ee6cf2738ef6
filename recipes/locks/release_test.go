package locks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// outage is a way to lose the server.
type outage struct {
	begin  func(w *world, network *recipetest.Network) (end func())
	silent bool // no error says so until the connection's time is up
}

var outages = map[string]outage{
	"refused": {begin: func(_ *world, network *recipetest.Network) func() {
		network.Refuse(true)
		network.Cut()
		return func() { network.Refuse(false) }
	}},
	"stopped": {begin: func(w *world, _ *recipetest.Network) func() {
		w.Stop()
		return w.Start
	}},
	"black hole": {silent: true, begin: func(_ *world, network *recipetest.Network) func() { return network.Isolate() }},
}

// A release in an outage returns no error and does not wait, because the
// caller could do nothing about it. The client deletes the node later.
//
// Promise: A release without a connection returns at once and deletes its node after the reconnect.
func TestReleaseInAnOutage(t *testing.T) {
	for name, outage := range outages {
		for _, kind := range kindsOfLocks {
			t.Run(name+"/"+kind.name, func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					c, network := w.Connect(t)
					take, after := kind.taker(t, c)
					held := must(take(w.Patience(t)))(t)
					session, err := c.Session(t.Context())
					require.NoError(t, err)
					over := outage.begin(w, network)
					synctest.Wait()

					start := time.Now()
					require.NoError(t, held.Release(context.Background()), "a ctx without deadline")
					require.NoError(t, session.Context().Err(), "no later than the session's own end")
					if !outage.silent {
						require.Zero(t, time.Since(start))
					}
					over()
					after()
					for _, path := range kind.paths {
						w.NothingLeft(t, path)
					}
					require.Equal(t, session.ID(), c.SessionID(), "it goes because the client goes on, not with the session")
				})
			})
		}
	}
}

// A release waits no longer than its session: the end of the session takes the
// node with it.
func TestReleaseWaitsNoLongerThanTheSession(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t, framework.WithSessionTimeout(6*time.Second))
		lease := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, "/l"))
		session, err := c.Session(t.Context())
		require.NoError(t, err)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.DelayRequest(time.Hour)})
		var ended time.Time
		stop := context.AfterFunc(session.Context(), func() { ended = time.Now() })
		defer stop()
		<-time.After(time.Second)
		require.NoError(t, lease.Release(context.Background()))
		returned := time.Now()
		synctest.Wait()
		require.True(t, ended.IsZero() || !returned.After(ended), "%v after the session's end", returned.Sub(ended))
	})
}

func TestReleaseFromManyGoroutinesSucceedsOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		lease := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, path))
		results := make(chan error)
		for range 10 {
			go func() { results <- lease.Release(ctx) }()
		}
		succeeded := 0
		for range 10 {
			if err := <-results; err == nil {
				succeeded++
			} else {
				require.ErrorIs(t, err, locks.ErrReleased)
			}
		}
		require.Equal(t, 1, succeeded)
		w.NothingLeft(t, path)
	})
}

// Promise: A release deletes its node even if the caller's context has ended.
func TestReleaseOnAnEndedContextStillFreesTheLock(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		c, _ := w.Connect(t)
		ctx, cancel := context.WithCancel(w.Patience(t))
		lease := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, path))
		cancel()
		require.NoError(t, lease.Release(ctx))
		require.Error(t, lease.Context().Err())
		w.NothingLeft(t, path)
	})
}
