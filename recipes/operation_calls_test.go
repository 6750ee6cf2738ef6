package recipes_test

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/fence/fencezk"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/state"
)

// These functions are the calls in the table of operations, and prepare them.

// errAnother is the error of a wrong answer.
var errAnother = &framework.OpError{Op: "test", Path: "/", Err: framework.ErrUnimplemented}

// errIf returns an error that only a wrong answer has.
func errIf(err error, wrong bool) error {
	if err == nil && wrong {
		return errAnother
	}
	return err
}

// onTree prepares nodes.
func onTree(call func(context.Context, *scene) error) func(*testing.T, *scene) func(context.Context) error {
	return func(t *testing.T, s *scene) func(context.Context) error {
		t.Helper()
		for _, path := range []string{"/tree", "/tree/a", "/tree/b"} {
			require.NoError(t, s.srv.Create(path, []byte("old")))
		}
		return func(ctx context.Context) error { return call(ctx, s) }
	}
}

// heldBy prepares a mutex that somebody else holds.
func heldBy(call func(context.Context, *scene) error) func(*testing.T, *scene) func(context.Context) error {
	return func(t *testing.T, s *scene) func(context.Context) error {
		t.Helper()
		held(t, mutex(s.other(t)))
		return func(ctx context.Context) error { return call(ctx, s) }
	}
}

// fenced prepares nodes, and a client under a lease.
func fenced(call func(context.Context, *fencezk.Client) error) func(*testing.T, *scene) func(context.Context) error {
	return func(t *testing.T, s *scene) func(context.Context) error {
		t.Helper()
		lease, err := mutex(s.client).Acquire(t.Context())
		require.NoError(t, err)
		c := fencezk.New(s.client, lease)
		return onTree(func(ctx context.Context, _ *scene) error { return call(ctx, c) })(t, s)
	}
}

// incoming prepares a store with a token, and admits a request.
func incoming(lock, header string) func(*testing.T, *scene) func(context.Context) error {
	return func(t *testing.T, s *scene) func(context.Context) error {
		t.Helper()
		require.NoError(t, s.srv.Create("/fences", nil))
		require.NoError(t, s.srv.Create("/fences/%2Flock", []byte("7 /lock/a")))
		return func(ctx context.Context) error {
			_, err := fence.Incoming(ctx, fencezk.NewStore(s.client, "/fences"), lock, []string{header})
			return err
		}
	}
}

// none reads a sequence, which ends with the context, to its end.
func drain(all iter.Seq[state.State]) error {
	for range all {
	}
	return nil
}

func none[T any](all iter.Seq2[T, error]) (last error) {
	for _, err := range all {
		last = err
	}
	return last
}

func stopped(w *framework.Watch, err error) error {
	if err == nil {
		w.Stop()
	}
	return err
}

func set(version int32) func(context.Context, *scene) error {
	return func(ctx context.Context, s *scene) error {
		_, err := s.client.Set(ctx, "/tree", []byte("new"), version)
		return err
	}
}

func create(path string, opts ...framework.CreateOption) func(context.Context, *scene) error {
	return func(ctx context.Context, s *scene) error {
		_, err := s.client.Create(ctx, path, []byte("new"), opts...)
		return err
	}
}

func remove(path string, opts ...framework.DeleteOption) func(context.Context, *scene) error {
	return func(ctx context.Context, s *scene) error {
		return s.client.Delete(ctx, path, framework.AnyVersion, opts...)
	}
}

func mutex(c *framework.Client) locks.Locker { return locks.NewInterProcessMutex(c, "/lock") }

func reader(c *framework.Client) locks.Locker {
	return locks.NewInterProcessReadWriteLock(c, "/lock").ReadLock()
}

func writer(c *framework.Client) locks.Locker {
	return locks.NewInterProcessReadWriteLock(c, "/lock").WriteLock()
}

func semaphore(c *framework.Client) locks.Locker {
	return locks.NewInterProcessSemaphore(c, "/lock", locks.Limit(1))
}

func semaphoreMutex(c *framework.Client) locks.Locker {
	return locks.NewInterProcessSemaphoreMutex(c, "/lock")
}

func several(c *framework.Client) locks.Locker {
	return locks.NewInterProcessMultiLock(locks.NewInterProcessMutex(c, "/first"), semaphore(c))
}

// held lets somebody hold a lock until the end of the test.
func held(t *testing.T, l locks.Locker) {
	t.Helper()
	_, err := l.Acquire(t.Context())
	require.NoError(t, err)
}

// byAnother lets another client hold the lock, or one that keeps readers out.
func byAnother(t *testing.T, s *scene, of func(*framework.Client) locks.Locker) {
	t.Helper()
	rival := of(s.other(t))
	if _, ok := rival.(*locks.ReadLock); ok {
		rival = writer(s.other(t))
	}
	held(t, rival)
}

func free(*testing.T, *scene, func(*framework.Client) locks.Locker) {}

// lock acquires a lock, which somebody else may hold. What it gets it releases.
func lock(
	of func(*framework.Client) locks.Locker, before func(*testing.T, *scene, func(*framework.Client) locks.Locker),
	acquire func(locks.Locker, context.Context) (*locks.Lease, error),
) func(*testing.T, *scene) func(context.Context) error {
	return func(t *testing.T, s *scene) func(context.Context) error {
		t.Helper()
		before(t, s, of)
		l := of(s.client)
		return func(ctx context.Context) error { return released(acquire(l, ctx)) }
	}
}

func released(lease *locks.Lease, err error) error {
	if err != nil {
		return err
	}
	return lease.Release(context.WithoutCancel(lease.Context()))
}

// do runs work under a lock until the context ends.
func do(of func(*framework.Client) locks.Locker) func(*testing.T, *scene) func(context.Context) error {
	return func(_ *testing.T, s *scene) func(context.Context) error {
		l := of(s.client).(interface {
			Do(ctx context.Context, f func(ctx context.Context) error) error
		})
		return func(ctx context.Context) error {
			return l.Do(ctx, func(ctx context.Context) error { <-ctx.Done(); return nil })
		}
	}
}

// participants asks for the participants of a lock that another client holds.
func participants(of func(*framework.Client) locks.Locker) func(*testing.T, *scene) func(context.Context) error {
	return func(t *testing.T, s *scene) func(context.Context) error {
		t.Helper()
		held(t, of(s.other(t)))
		return func(ctx context.Context) error {
			l := of(s.client).(interface {
				Participants(ctx context.Context) ([]locks.Participant, error)
			})
			all, err := l.Participants(ctx)
			return errIf(err, len(all) == 0)
		}
	}
}

// release releases a lock that was acquired before.
func release(of func(*framework.Client) locks.Locker) func(*testing.T, *scene) func(context.Context) error {
	return func(t *testing.T, s *scene) func(context.Context) error {
		t.Helper()
		lease, err := of(s.client).Acquire(t.Context())
		require.NoError(t, err)
		return lease.Release
	}
}

// latch prepares a latch that leads.
func latch(call func(context.Context, *leader.Latch) error) func(*testing.T, *scene) func(context.Context) error {
	return func(t *testing.T, s *scene) func(context.Context) error {
		t.Helper()
		l, err := leader.NewLatch(s.client, "/lead")
		require.NoError(t, err)
		_, err = l.WaitLeadership(t.Context())
		require.NoError(t, err)
		t.Cleanup(func() { l.Shutdown(context.Background()) })
		return func(ctx context.Context) error { return call(ctx, l) }
	}
}

// selecting prepares a selector that leads.
func selecting(call func(context.Context, *leader.Selector) error) func(*testing.T, *scene) func(context.Context) error {
	return func(t *testing.T, s *scene) func(context.Context) error {
		t.Helper()
		l := leader.NewSelector(s.client, "/lead")
		leads, over := make(chan struct{}), make(chan error, 1)
		ctx, stop := context.WithCancel(context.Background())
		go func() {
			over <- l.Run(ctx, func(ctx context.Context) error { close(leads); <-ctx.Done(); return nil })
		}()
		<-leads
		t.Cleanup(func() { stop(); <-over })
		return func(ctx context.Context) error { return call(ctx, l) }
	}
}

func raised(call func(context.Context, *barriers.Barrier) error) func(*testing.T, *scene) func(context.Context) error {
	return func(t *testing.T, s *scene) func(context.Context) error {
		t.Helper()
		_, err := barriers.NewBarrier(s.other(t), "/barrier").Raise(t.Context())
		require.NoError(t, err)
		b := barriers.NewBarrier(s.client, "/barrier")
		return func(ctx context.Context) error { return call(ctx, b) }
	}
}

func enter(n int) func(context.Context, *scene) error {
	return func(ctx context.Context, s *scene) error {
		p, err := barriers.NewDoubleBarrier(s.client, "/double", n).Enter(ctx)
		if err != nil {
			return err
		}
		return p.Leave(ctx)
	}
}

// persistent starts a persistent node before the call.
func persistent(path string, call func(context.Context, *nodes.PersistentNode) error) func(*testing.T, *scene) func(context.Context) error {
	return func(t *testing.T, s *scene) func(context.Context) error {
		t.Helper()
		require.NoError(t, s.srv.Create("/tree", nil))
		return func(ctx context.Context) error {
			n, err := nodes.NewPersistentNode(s.client, path, []byte("old"))
			if err != nil {
				return err
			}
			t.Cleanup(func() { n.Shutdown(context.Background()) })
			return call(ctx, n)
		}
	}
}

// withTTL starts a persistent node with a time to live before the call.
func withTTL(call func(context.Context, *nodes.PersistentNode) error) func(*testing.T, *scene) func(context.Context) error {
	return func(t *testing.T, s *scene) func(context.Context) error {
		return func(ctx context.Context) error {
			n, err := nodes.NewPersistentNode(s.client, "/ttl", []byte("old"), nodes.WithTTL(time.Hour))
			if err != nil {
				return err
			}
			t.Cleanup(func() { n.Shutdown(context.Background()) })
			return call(ctx, n)
		}
	}
}

// cached starts a cache before the call.
func cached(call func(context.Context, *cache.Cache) error) func(*testing.T, *scene) func(context.Context) error {
	return onTree(func(ctx context.Context, s *scene) error {
		c, err := cache.New(s.client, "/tree")
		if err != nil {
			return err
		}
		defer c.Close()
		return call(ctx, c)
	})
}

func registered(call func(context.Context, *discovery.Registration) error) func(*testing.T, *scene) func(context.Context) error {
	return onTree(func(ctx context.Context, s *scene) error {
		r, err := discovery.NewRegistration(s.client, "/services", discovery.CuratorCodec(), instance)
		if err != nil {
			return err
		}
		defer func() {
			over, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
			defer cancel()
			r.Shutdown(over)
		}()
		return call(ctx, r)
	})
}

func directory(call func(context.Context, *discovery.Directory) error) func(*testing.T, *scene) func(context.Context) error {
	return onTree(func(ctx context.Context, s *scene) error {
		d, err := discovery.NewDirectory(s.client, "/services", discovery.CuratorCodec(), "orders")
		if err != nil {
			return err
		}
		defer d.Close()
		return call(ctx, d)
	})
}

// streamed reads who leads as a channel, which is closed with the context, to its end.
func streamed(
	ctx context.Context, s *scene,
	stream func(context.Context, func(context.Context) iter.Seq2[locks.Participant, error]) (<-chan locks.Participant, func() error),
) error {
	leaders, stop := stream(ctx, func(ctx context.Context) iter.Seq2[locks.Participant, error] {
		return leader.Observe(ctx, s.client, "/lock")
	})
	for range leaders {
		continue
	}
	return stop()
}
