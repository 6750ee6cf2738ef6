package locks_test

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// callsOf returns the calls that a user may make first on a lock or a leader.
func callsOf(v any) map[string]func(ctx context.Context) error {
	calls := map[string]func(ctx context.Context) error{}
	if l, ok := v.(locks.Locker); ok {
		calls["acquire"] = func(ctx context.Context) error { _, err := l.Acquire(ctx); return err }
		calls["try"] = func(ctx context.Context) error { _, err := l.TryAcquire(ctx); return err }
		calls["multi-lock"] = func(ctx context.Context) error { _, err := locks.NewInterProcessMultiLock(l).Acquire(ctx); return err }
	}
	if l, ok := v.(interface {
		Do(context.Context, func(context.Context) error) error
	}); ok {
		calls["do"] = func(ctx context.Context) error { return l.Do(ctx, func(context.Context) error { return nil }) }
	}
	if l, ok := v.(interface {
		Participants(context.Context) ([]locks.Participant, error)
	}); ok {
		calls["participants"] = func(ctx context.Context) error { _, err := l.Participants(ctx); return err }
	}
	if l, ok := v.(interface {
		Leader(context.Context) (locks.Participant, error)
	}); ok {
		calls["leader"] = func(ctx context.Context) error { _, err := l.Leader(ctx); return err }
	}
	if s, ok := v.(*leader.Selector); ok {
		calls["run"] = func(ctx context.Context) error {
			return s.Run(ctx, func(context.Context) error { return nil })
		}
	}
	if l, ok := v.(*leader.Latch); ok {
		calls["wait leadership"] = func(ctx context.Context) error { _, err := l.WaitLeadership(ctx); return err }
		calls["lead"] = func(ctx context.Context) error { return l.Lead(ctx, func(context.Context) error { return nil }) }
		calls["shutdown"] = l.Shutdown
		calls["err"] = func(context.Context) error { return l.Err() }
	}
	return calls
}

// A nil client, and a value that no constructor has made, make every call
// return an error that names the client, whichever call comes first.
func TestWithoutAClientEveryCallIsAnError(t *testing.T) {
	for name, v := range map[string]any{
		"mutex":             locks.NewInterProcessMutex(nil, "/l"),
		"mutex, hand-over":  locks.NewInterProcessMutex(nil, "/l", handingOver(2, 3)),
		"reader":            locks.NewInterProcessReadWriteLock(nil, "/l").ReadLock(),
		"writer":            locks.NewInterProcessReadWriteLock(nil, "/l").WriteLock(),
		"semaphore":         locks.NewInterProcessSemaphore(nil, "/l", locks.Limit(2)),
		"semaphore, shared": locks.NewInterProcessSemaphore(nil, "/l", locks.SharedLimit("/n", 2)),
		"semaphore mutex":   locks.NewInterProcessSemaphoreMutex(nil, "/l"),
		"multi-lock":        locks.NewInterProcessMultiLock(locks.SortedMutexes(nil, []string{"/l"})...),
		"selector":          leader.NewSelector(nil, "/l"),
		"zero mutex":        &locks.InterProcessMutex{},
		"zero reader":       (&locks.InterProcessReadWriteLock{}).ReadLock(),
		"zero writer":       (&locks.InterProcessReadWriteLock{}).WriteLock(),
		"zero semaphore":    &locks.InterProcessSemaphore{},
		"zero sem. mutex":   &locks.InterProcessSemaphoreMutex{},
		"zero read lock":    &locks.ReadLock{},
		"zero write lock":   &locks.WriteLock{},
		"zero latch":        &leader.Latch{},
		"zero selector":     &leader.Selector{},
	} {
		calls := callsOf(v)
		require.NotEmpty(t, calls)
		for call, f := range calls {
			t.Run(name+"/"+call, func(t *testing.T) {
				err := f(recipetest.Within(t, 0))
				require.ErrorIs(t, err, zk.ErrBadArguments)
				var wrong *framework.ConfigError
				require.ErrorAs(t, err, &wrong)
				require.Equal(t, "client", wrong.Name)
				require.ErrorAs(t, err, new(*framework.OpError))
			})
		}
	}
	_, err := leader.NewLatch(nil, "/l")
	require.ErrorIs(t, err, zk.ErrBadArguments)
	require.ErrorIs(t, locks.Revoke(t.Context(), nil, "/l/lock-0000000000"), zk.ErrBadArguments)
	err = locks.SetSharedLimit(t.Context(), nil, "/n", 1)
	require.ErrorIs(t, err, zk.ErrBadArguments)
	require.ErrorContains(t, err, "set shared limit /n: ")
}

// Calls that only look at a zero latch have no error to return. The latch is
// over, and never leads.
func TestZeroLatchIsOver(t *testing.T) {
	var l leader.Latch
	require.True(t, recipetest.IsClosed(l.Done()))
	require.Nil(t, l.Leadership())
	require.ErrorIs(t, l.Resign(t.Context()), leader.ErrNotLeader)
	require.ErrorIs(t, l.HandOver(t.Context()), leader.ErrNotLeader)
}

func TestNilOptionsAndLocksAreErrors(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		m := locks.NewInterProcessMutex(c, "/l")
		_, err := locks.NewInterProcessMutex(c, "/l", nil).Acquire(t.Context())
		var wrong *framework.ConfigError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, "option", wrong.Name)
		for _, lock := range []locks.Locker{
			nil, (*locks.InterProcessMutex)(nil), (*locks.ReadLock)(nil),
			(*locks.InterProcessSemaphore)(nil), (*locks.InterProcessMultiLock)(nil),
		} {
			for _, l := range []*locks.InterProcessMultiLock{
				locks.NewInterProcessMultiLock(m, lock),
				locks.NewInterProcessMultiLock(m, locks.NewInterProcessMultiLock(lock)),
			} {
				_, err := l.Acquire(t.Context())
				require.ErrorIs(t, err, zk.ErrBadArguments)
				_, err = l.TryAcquire(t.Context())
				require.ErrorIs(t, err, zk.ErrBadArguments)
				_, err = l.Participants(t.Context())
				require.ErrorIs(t, err, zk.ErrBadArguments)
			}
		}
		_, err = locks.NewInterProcessMultiLock(m, heldAlready{lease: nil, calls: new(int)}).Acquire(t.Context())
		require.ErrorIs(t, err, zk.ErrBadArguments)
		require.ErrorContains(t, err, "lease")
		require.Empty(t, w.Nodes(t, "/l"))
	})
}

// Do with nil work acquires nothing.
func TestWorkThatIsNilIsAnError(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		rw := locks.NewInterProcessReadWriteLock(c, "/l")
		for name, l := range map[string]interface {
			Do(context.Context, func(context.Context) error) error
		}{
			"mutex":           locks.NewInterProcessMutex(c, "/l"),
			"reader":          rw.ReadLock(),
			"writer":          rw.WriteLock(),
			"semaphore":       locks.NewInterProcessSemaphore(c, "/l", locks.Limit(2)),
			"semaphore mutex": locks.NewInterProcessSemaphoreMutex(c, "/l"),
			"multi-lock":      locks.NewInterProcessMultiLock(locks.SortedMutexes(c, []string{"/l"})...),
		} {
			require.NotPanics(t, func() { require.ErrorIs(t, l.Do(t.Context(), nil), zk.ErrBadArguments, name) }, name)
		}
		_, _, err := c.Children(t.Context(), "/l")
		require.ErrorIs(t, err, zk.ErrNoNode)
	})
}
