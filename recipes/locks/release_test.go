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
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
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

// The usual line, defer lease.Release(ctx), is right even when ctx has ended.
func TestReleaseOnAnEndedContextIsNoError(t *testing.T) {
	for _, kind := range kindsOfLocks {
		t.Run(kind.name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, network := w.Connect(t)
				take, after := kind.taker(t, c)
				for _, patience := range []time.Duration{0, time.Second} {
					held := must(take(w.Patience(t)))(t)
					var heal func()
					if patience > 0 { // ctx ends while the release awaits its answer
						heal = network.Isolate()
					}
					start := time.Now()
					require.NoError(t, held.Release(recipetest.Within(t, patience)))
					require.Equal(t, patience, time.Since(start))
					if heal != nil {
						heal()
					}
				}
				after()
				for _, path := range kind.paths {
					w.NothingLeft(t, path)
				}
			})
		})
	}
}

// Do reports the success of the work, whatever becomes of the connection.
func TestDoReturnsAtOnceWhenTheWorkHasSucceededInAnOutage(t *testing.T) {
	type doer interface {
		Do(ctx context.Context, f func(ctx context.Context) error) error
	}
	for name, of := range map[string]func(c *framework.Client) doer{
		"mutex":     func(c *framework.Client) doer { return locks.NewInterProcessMutex(c, "/l") },
		"reader":    func(c *framework.Client) doer { return rwOf(c).ReadLock() },
		"semaphore": func(c *framework.Client) doer { return locks.NewInterProcessSemaphore(c, "/l", locks.Limit(2)) },
		"multi-lock": func(c *framework.Client) doer {
			return locks.NewInterProcessMultiLock(locks.SortedMutexes(c, []string{"/l/a", "/l/b"})...)
		},
		"selector": func(c *framework.Client) doer { return selectorAsDoer{leader.NewSelector(c, "/l")} },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, network := w.Connect(t)
				var worked time.Time
				err := of(c).Do(context.Background(), func(context.Context) error {
					network.Refuse(true)
					network.Cut()
					synctest.Wait()
					worked = time.Now()
					return nil
				})
				require.NoError(t, err)
				require.Zero(t, time.Since(worked))
				network.Refuse(false)
			})
		})
	}
}

type selectorAsDoer struct{ *leader.Selector }

func (s selectorAsDoer) Do(ctx context.Context, f func(ctx context.Context) error) error {
	return s.Run(ctx, f)
}

// awaited returns the leadership that a latch waits for.
func awaited(t *testing.T, w *world, l *leader.Latch) *locks.Lease {
	t.Helper()
	lease, err := l.WaitLeadership(w.Patience(t))
	require.NoError(t, err)
	return lease
}

// Resign in an outage ends the leadership at once, as Release does, and waits for a
// server: see TestEveryEndingKeepsTheRule of the recipes.
func TestResignInAnOutage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		latch, err := leader.NewLatch(c, "/l")
		require.NoError(t, err)
		lease := awaited(t, w, latch)
		network.Refuse(true)
		network.Cut()
		synctest.Wait()
		resigned := make(chan error, 1)
		go func() { resigned <- latch.Resign(context.Background()) }()
		synctest.Wait()
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrReleased)
		require.Empty(t, resigned)
		network.Refuse(false)
		require.NoError(t, <-resigned)
		require.NotEqual(t, lease.Path(), awaited(t, w, latch).Path(), "it has queued again")
		require.NoError(t, latch.Shutdown(t.Context()))
		w.NothingLeft(t, "/l")
	})
}

// A deletion that is left to the client is no error to the caller, but it is
// one in the traces. Other contenders wait as long as the node stays.
func TestTracerLearnsWhyADeletionWasLeft(t *testing.T) {
	for name, tc := range map[string]struct {
		down bool
		ctx  func(t *testing.T) context.Context
		want error
	}{
		"no connection": {true, func(t *testing.T) context.Context { return context.Background() }, framework.ErrSuspended},
		"ended context": {false, func(t *testing.T) context.Context { return recipetest.Within(t, 0) }, context.DeadlineExceeded},
		"none":          {false, func(t *testing.T) context.Context { return context.Background() }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				var told []locktrace.HoldEnd
				tracer := &locktest.Spy{Ended: func(end locktrace.HoldEnd) { told = append(told, end) }}
				c, network := w.Connect(t, framework.WithHooks(tracer))
				lease := locktest.Acquire(t, t.Context(), locks.NewInterProcessMutex(c, "/l"))
				if tc.down {
					network.Refuse(true)
					network.Cut()
					synctest.Wait()
				}
				require.NoError(t, lease.Release(tc.ctx(t)))
				require.Len(t, told, 1)
				require.Equal(t, locktrace.EndReleased, told[0].Cause)
				require.ErrorIs(t, told[0].Err, tc.want)
				network.Refuse(false)
			})
		})
	}
}

func TestReleaseTwice(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, path)
		first := locktest.Acquire(t, ctx, m)
		require.NoError(t, first.Release(ctx))
		second := locktest.Acquire(t, ctx, m)
		require.ErrorIs(t, first.Release(ctx), locks.ErrReleased)
		require.NoError(t, second.Context().Err(), "another's lease is not touched")
		w.WaitNodes(t, path, 1)
		require.NoError(t, second.Release(ctx))
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
