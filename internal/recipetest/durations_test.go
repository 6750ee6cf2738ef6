package recipetest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/tracing"
)

// withDuration are the functions of framework, retry, tracing and the recipes that
// take a duration, and the fields of that type in the structs that they take. Each
// is used with one, in a way to which it matters, on a client whose connection breaks
// for some minutes.
var withDuration = map[string]func(t *testing.T, w *recipetest.World, d time.Duration) error{
	"framework.WithSessionTimeout": func(t *testing.T, w *recipetest.World, d time.Duration) error {
		return useAround(t, w, framework.WithSessionTimeout(d))
	},
	"framework.WithConnectionTimeout": func(t *testing.T, w *recipetest.World, d time.Duration) error {
		return useAround(t, w, framework.WithConnectionTimeout(d))
	},
	"discovery.WithEjection": func(_ *testing.T, _ *recipetest.World, d time.Duration) error {
		_, err := discovery.NewPicker(discovery.RoundRobin(), discovery.WithEjection(1, d, d))
		return err
	},
	"discovery.WithRemovalGrace": func(t *testing.T, w *recipetest.World, d time.Duration) error {
		return useThroughRemoval(t, w, discovery.WithRemovalGrace(d))
	},
	"framework.WithTTL": func(t *testing.T, w *recipetest.World, d time.Duration) error {
		_, err := w.Observer.Create(w.Patience(t), "/ttl", nil,
			framework.WithMode(framework.PersistentTTL), framework.WithTTL(d))
		return err
	},
	"leader.WithGrace": func(t *testing.T, w *recipetest.World, d time.Duration) error {
		return leadUntilAsked(t, w, leader.WithGrace(d))
	},
	"locks.ReleasePolicy.HandOver": func(t *testing.T, w *recipetest.World, d time.Duration) error {
		m := mutexWith(w, locks.ReleasePolicy{MaxReuses: 2, HandOver: d})
		for range 3 {
			lease, err := m.Acquire(w.Patience(t))
			if err != nil {
				return err
			}
			next := locktest.AcquireLater(w.Patience(t), m)
			time.Sleep(time.Second)
			require.NoError(t, lease.Release(t.Context()))
			require.NoError(t, next.Wait(t).Release(t.Context()))
		}
		return nil
	},
	"locks.ReleasePolicy.MinimumHold": func(t *testing.T, w *recipetest.World, d time.Duration) error {
		m := mutexWith(w, locks.ReleasePolicy{MinimumHold: d})
		for range 3 {
			lease, err := m.TryAcquire(w.Patience(t))
			if errors.Is(err, locks.ErrNotAcquired) {
				continue // it is kept
			}
			if err != nil {
				return err
			}
			require.NoError(t, lease.Release(t.Context()))
			time.Sleep(time.Second)
		}
		return nil
	},
	"locks.ReleasePolicy.Idle": func(t *testing.T, w *recipetest.World, d time.Duration) error {
		m := mutexWith(w, locks.ReleasePolicy{MaxReuses: 2, Idle: d})
		for range 3 {
			lease, err := m.Acquire(w.Patience(t))
			if err != nil {
				return err
			}
			require.NoError(t, lease.Release(t.Context()))
			time.Sleep(time.Second)
		}
		return nil
	},
	"nodes.WithTTL": func(t *testing.T, w *recipetest.World, d time.Duration) error {
		n, err := nodes.NewPersistentNode(w.Observer, "/n", nil, nodes.WithTTL(d))
		if err != nil {
			return err
		}
		defer n.Shutdown(t.Context())
		_, err = n.WaitRegistered(recipetest.Within(t, time.Minute))
		time.Sleep(5 * time.Minute)
		return err
	},
	"tracing.WithSlowWait": func(t *testing.T, w *recipetest.World, d time.Duration) error {
		return waitAndHold(t, w, tracing.WithSlowWait(d))
	},
	"tracing.WithSlowHold": func(t *testing.T, w *recipetest.World, d time.Duration) error {
		return waitAndHold(t, w, tracing.WithSlowHold(d))
	},
	"retry.Forever":     retrying(retry.Forever),
	"retry.Exponential": retrying(func(d time.Duration) retry.Policy { return retry.Exponential(d, d, 5) }),
}

func mutexWith(w *recipetest.World, p locks.ReleasePolicy) *locks.InterProcessMutex {
	return locks.NewInterProcessMutex(w.Observer, "/l", locks.WithReleasePolicy(p))
}

// waitAndHold waits for a lock for some time, and holds it.
func waitAndHold(t *testing.T, w *recipetest.World, opt tracing.Option) error {
	c, err := framework.New(w.Addr, framework.WithDialer(w.Dial), framework.WithHooks(tracing.New(opt)))
	if err != nil {
		return err
	}
	defer c.Close()
	m := locks.NewInterProcessMutex(c, "/l")
	for range 2 {
		lease, err := m.Acquire(w.Patience(t))
		require.NoError(t, err)
		next := locktest.AcquireLater(w.Patience(t), locks.NewInterProcessMutex(c, "/l"))
		time.Sleep(time.Minute)
		require.NoError(t, lease.Release(t.Context()))
		require.NoError(t, next.Wait(t).Release(t.Context()))
	}
	return nil
}

// useAround uses a client before and after an outage.
func useAround(t *testing.T, w *recipetest.World, opt framework.Option) error {
	c, err := framework.New(w.Addr, framework.WithDialer(w.Dial), opt)
	if err != nil {
		return err
	}
	defer c.Close()
	require.NoError(t, c.WaitConnected(recipetest.Within(t, time.Minute)))
	w.Fake.RefuseConnections(true)
	w.Fake.CutAll()
	for range 300 {
		c.Sync(recipetest.Within(t, time.Second), "/")
		time.Sleep(time.Second)
	}
	w.Fake.RefuseConnections(false)
	require.NoError(t, c.WaitConnected(recipetest.Within(t, time.Minute)))
	return c.Sync(t.Context(), "/")
}

// useThroughRemoval has a directory of an instance whose node goes.
func useThroughRemoval(t *testing.T, w *recipetest.World, opt discovery.DirectoryOption) error {
	const path = "/services/orders/a"
	require.NoError(t, w.Fake.Create(path, []byte("{}")))
	d, err := discovery.NewDirectory(w.Observer, "/services", discovery.CuratorCodec(), "orders", opt)
	if err != nil {
		return err
	}
	defer d.Close()
	require.NoError(t, d.WaitInstances(recipetest.Within(t, time.Minute), 1))
	require.NoError(t, w.Fake.Delete(path))
	time.Sleep(5 * time.Minute)
	return nil
}

// leadUntilAsked leads, is asked to step down, and goes on for some time.
func leadUntilAsked(t *testing.T, w *recipetest.World, opt leader.Option) error {
	s := leader.NewSelector(w.Observer, "/leader", opt)
	err := s.Run(w.Patience(t), func(ctx context.Context) error {
		lease, _ := locks.LeaseFromContext(ctx)
		time.Sleep(2 * time.Second)
		require.NoError(t, locks.Revoke(t.Context(), w.Observer, lease.Path()))
		time.Sleep(time.Minute)
		return nil
	})
	if errors.Is(err, locks.ErrRevoked) {
		return nil
	}
	return err
}

func retrying(policy func(time.Duration) retry.Policy) func(*testing.T, *recipetest.World, time.Duration) error {
	return func(t *testing.T, _ *recipetest.World, d time.Duration) error {
		calls := 0
		retry.Do(recipetest.Within(t, time.Minute), policy(d), func(error) bool { return true }, func(context.Context) error {
			if calls++; calls > 100 {
				return nil
			}
			return errors.New("again")
		})
		require.Positive(t, calls)
		return nil
	}
}

// Every duration is used, or refused with an error that names it, at its
// extremes. None makes a client spin, or wait for ever.
func TestDurationsOfAnyLength(t *testing.T) {
	for name, use := range withDuration {
		for _, d := range []time.Duration{math.MinInt64, -1, 0, 1, math.MaxInt64} {
			t.Run(fmt.Sprintf("%s(%d)", name, d), func(t *testing.T) {
				recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
					w.Fake.ClearRequests()
					err := use(t, w, d)
					if err != nil && !framework.IsRefusal(err) {
						t.Fatal(err)
					}
					require.Less(t, len(w.Fake.Requests()), 2000)
				})
			})
		}
	}
}
