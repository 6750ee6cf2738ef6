package locks_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locktrace"
	"github.com/gocurator/curator/testing/zktest"
)

// The user's code that an acquire calls may panic. A caller that recovers from
// the panic goes on with the same objects.
func TestPanicOfTheUsersCodeLeavesNothingBehind(t *testing.T) {
	for _, kind := range kindsOfLocks {
		if kind.name == cachedKind { // most of its acquires call nothing
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			calls := 1
			for at := 1; at <= calls; at++ { // each call that a successful acquire makes panics in turn
				inVirtualTime(t, func(t *testing.T, w *world) {
					calls = max(calls, panicsAt(t, w, kind, at))
				})
			}
			require.Positive(t, calls)
		})
	}
}

// panicsAt lets the n-th call of the ACL provider panic. It returns how often
// an acquire calls the provider.
func panicsAt(t *testing.T, w *world, kind lockKind, n int) (calls int) {
	ctx := w.Patience(t)
	var armed, called atomic.Int64
	c, _ := w.Connect(t, framework.WithACLProvider(func(string) []zk.ACL {
		if armed.Add(-1) == 0 {
			panic("no list")
		}
		called.Add(1)
		return zk.WorldACL(zk.PermAll)
	}))
	take, after := kind.taker(t, c)
	for range 2 { // the first acquire creates the parents, too
		called.Store(0)
		require.NoError(t, must(take(ctx))(t).Release(ctx))
	}
	calls = int(called.Load())

	armed.Store(int64(n))
	require.PanicsWithValue(t, "no list", func() { take(ctx) })
	for range 2 {
		require.NoError(t, must(take(ctx))(t).Release(ctx))
	}
	after()
	rival, _ := w.Connect(t)
	require.NoError(t, must(kind.rival(rival)(ctx))(t).Release(ctx))
	for _, path := range kind.paths {
		w.NothingLeft(t, path)
	}
	return calls
}

// The reply to the creation is lost, and then the retry policy panics. The
// client finds the node and deletes it.
func TestPanicOfTheRetryPolicyLeavesNoNodeBehind(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, panics := w.Patience(t), false
		c, _ := w.Connect(t, framework.WithRetry(func() backoff.BackOff {
			if panics {
				panics = false
				panic("no schedule")
			}
			return backoff.NewConstantBackOff(time.Second)
		}))
		m := locks.NewInterProcessMutex(c, "/l")
		require.NoError(t, locktest.Acquire(t, ctx, m).Release(ctx))
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DropReply()})
		panics = true
		require.Panics(t, func() { m.Acquire(ctx) })
		time.Sleep(time.Minute)
		w.NothingLeft(t, "/l")
		require.NoError(t, locktest.Acquire(t, ctx, m).Release(ctx))
	})
}

// panickingTracer panics when it learns of an acquire that waits in the
// process.
type panickingTracer struct{ locktest.Spy }

func (p *panickingTracer) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	return ctx, panickingAcquire{locktest.SpyOnAcquire{Spy: &p.Spy}}
}

type panickingAcquire struct{ locktest.SpyOnAcquire }

func (panickingAcquire) QueuedLocally(int) { panic("no tracer") }

// A waiter that is left behind would get the next turn, and never give it
// back.
func TestPanicOfTheTracerLeavesNoWaiterBehind(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t, framework.WithHooks(&panickingTracer{}))
		m := locks.NewInterProcessMutex(c, path)
		first := locktest.Acquire(t, ctx, m)
		second := locktest.AcquireLater(ctx, m)
		w.WaitNodes(t, path, 2)
		for range 3 {
			require.PanicsWithValue(t, "no tracer", func() { m.Acquire(ctx) })
		}
		require.NoError(t, first.Release(ctx))
		require.NoError(t, second.Wait(t).Release(ctx))
		require.NoError(t, locktest.Acquire(t, ctx, m).Release(ctx))
		w.NothingLeft(t, path)
	})
}

// tracerThatPanicsAt panics at the n-th call for an acquire.
type tracerThatPanicsAt struct {
	locktest.Spy
	left int
}

func (p *tracerThatPanicsAt) call() {
	if p.left--; p.left == 0 {
		panic("no tracer")
	}
}

func (p *tracerThatPanicsAt) StartAcquire(ctx context.Context, _ locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	p.call()
	return ctx, acquireThatPanics{p}
}

type acquireThatPanics struct{ p *tracerThatPanicsAt }

func (a acquireThatPanics) Trace() map[string]string   { a.p.call(); return nil }
func (a acquireThatPanics) QueuedLocally(int)          { a.p.call() }
func (a acquireThatPanics) Queued(locktrace.Queued)    { a.p.call() }
func (a acquireThatPanics) Waiting(locktrace.Waiting)  { a.p.call() }
func (a acquireThatPanics) Woken(bool)                 { a.p.call() }
func (a acquireThatPanics) Abandoned(error)            { a.p.call() }
func (a acquireThatPanics) Ended(locktrace.AcquireEnd) { a.p.call() }

func (a acquireThatPanics) StartHold(locktrace.Hold) locktrace.HoldTracer {
	a.p.call()
	return locktest.ValveOnHold{Valve: &locktest.Valve{}}
}

// A tracer panics at any of its calls for an acquire. The panic leaves no lock
// held without a holder.
func TestPanicOfTheTracerLeavesNoLockHeld(t *testing.T) {
	for name, lock := range map[string]func(c *framework.Client) takeAny{
		"mutex":      func(c *framework.Client) takeAny { return takeOne(mutexAt(c)) },
		"semaphore":  func(c *framework.Client) takeAny { return takeOne(semaphoreAt(c)) },
		"multi-lock": takeSeveral,
		"atomic": func(c *framework.Client) takeAny {
			return takeOne(locks.NewAtomicMultiLock(c, []string{"/l/leases", "/l/locks"}))
		},
		"downgrade": takeDowngraded,
	} {
		t.Run(name, func(t *testing.T) {
			for at, panicked := 1, true; panicked; at++ {
				inVirtualTime(t, func(t *testing.T, w *world) {
					tracer := &tracerThatPanicsAt{}
					c, _ := w.Connect(t, framework.WithHooks(tracer))
					take := lock(c)
					lease, err := take(t.Context())
					require.NoError(t, err)
					require.NoError(t, lease.Release(t.Context()))
					tracer.left = at
					panicked = tracerPanics(t, take)
					tracer.left = 0
					w.noEphemerals(t)
					lease, err = take(t.Context())
					require.NoError(t, err)
					require.NoError(t, lease.Release(t.Context()))
				})
			}
		})
	}
}

type releaser interface{ Release(context.Context) error }

type takeAny func(context.Context) (releaser, error)

func takeOne(l locks.Locker) takeAny {
	return func(ctx context.Context) (releaser, error) { return l.Acquire(ctx) }
}

func takeSeveral(c *framework.Client) takeAny {
	return func(ctx context.Context) (releaser, error) {
		return locks.NewInterProcessMultiLock(mutexAt(c), readerAt(c)).Acquire(ctx)
	}
}

// takeDowngraded takes the read lock under the write lock, and releases the
// write lock first.
func takeDowngraded(c *framework.Client) takeAny {
	return func(ctx context.Context) (releaser, error) {
		lease, err := writerAt(c).Acquire(ctx)
		if err != nil {
			return nil, err
		}
		defer lease.Release(ctx)
		return readerAt(c).Acquire(lease.Context())
	}
}

func (w *world) noEphemerals(t *testing.T) {
	t.Helper()
	for _, path := range []string{"/l", "/l/leases", "/l/locks"} {
		for _, name := range w.Nodes(t, path) {
			require.Contains(t, []string{"leases", "locks"}, name)
		}
	}
}

func tracerPanics(t *testing.T, take takeAny) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	lease, err := take(t.Context())
	require.NoError(t, err)
	require.NoError(t, lease.Release(t.Context()))
	return false
}

// A tracer panics at any of its calls for an acquire that waits and gives up.
// The panic leaves no node in the queue.
func TestPanicOfTheTracerLeavesNoNodeInTheQueue(t *testing.T) {
	for at, panicked := 1, true; panicked; at++ {
		inVirtualTime(t, func(t *testing.T, w *world) {
			tracer := &tracerThatPanicsAt{left: at}
			c, _ := w.Connect(t, framework.WithHooks(tracer))
			held, err := mutexAt(w.Observer).Acquire(t.Context())
			require.NoError(t, err)
			panicked = func() (panicked bool) {
				defer func() { panicked = recover() != nil }()
				_, err := mutexAt(c).Acquire(recipetest.Within(t, time.Minute))
				require.ErrorIs(t, err, locks.ErrNotAcquired)
				return false
			}()
			synctest.Wait()
			require.Len(t, w.Nodes(t, "/l"), 1)
			require.NoError(t, held.Release(t.Context()))
		})
	}
}
