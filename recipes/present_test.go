package recipes_test

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
)

// callsOf are the calls that a lock or a leader may get first.
func callsOf(v any) map[string]func(ctx context.Context) error {
	calls := map[string]func(ctx context.Context) error{}
	if l, ok := v.(recipes.Locker); ok {
		calls["acquire"] = func(ctx context.Context) error { _, err := l.Acquire(ctx); return err }
		calls["try"] = func(ctx context.Context) error { _, err := l.TryAcquire(ctx); return err }
		calls["multi-lock"] = func(ctx context.Context) error { _, err := recipes.CombineLocks(l).Acquire(ctx); return err }
	}
	if l, ok := v.(interface {
		Do(context.Context, func(context.Context) error) error
	}); ok {
		calls["do"] = func(ctx context.Context) error { return l.Do(ctx, func(context.Context) error { return nil }) }
	}
	if l, ok := v.(interface {
		Participants(context.Context) ([]recipes.Participant, error)
	}); ok {
		calls["participants"] = func(ctx context.Context) error { _, err := l.Participants(ctx); return err }
	}
	if l, ok := v.(interface {
		Leader(context.Context) (recipes.Participant, error)
	}); ok {
		calls["leader"] = func(ctx context.Context) error { _, err := l.Leader(ctx); return err }
	}
	if s, ok := v.(*recipes.LeaderSelector); ok {
		calls["run"] = func(ctx context.Context) error {
			return s.Run(ctx, func(context.Context) error { return nil })
		}
	}
	if l, ok := v.(*recipes.LeaderLatch); ok {
		calls["start"] = func(context.Context) error { return l.Start() }
		calls["await"] = func(ctx context.Context) error { _, err := l.Await(ctx); return err }
		calls["lead"] = func(ctx context.Context) error { return l.Lead(ctx, func(context.Context) error { return nil }) }
		calls["close"] = l.Close
		calls["close and notify"] = l.CloseNotify
		calls["err"] = func(context.Context) error { return l.Err() }
	}
	return calls
}

// A client that is nil, and a value that no constructor has made, are errors by
// name, whatever is called first.
func TestWithoutAClientEveryCallIsAnError(t *testing.T) {
	for name, v := range map[string]any{
		"mutex":             recipes.NewInterProcessMutex(nil, "/l"),
		"mutex, hand-over":  recipes.NewInterProcessMutex(nil, "/l", recipes.WithLocalHandOver(2, 3)),
		"reader":            recipes.NewInterProcessReadWriteLock(nil, "/l").Reader(),
		"writer":            recipes.NewInterProcessReadWriteLock(nil, "/l").Writer(),
		"semaphore":         recipes.NewInterProcessSemaphore(nil, "/l", 2),
		"semaphore, shared": recipes.NewInterProcessSemaphore(nil, "/l", 2, recipes.WithSharedLimit("/n")),
		"semaphore mutex":   recipes.NewInterProcessSemaphoreMutex(nil, "/l"),
		"multi-lock":        multiLocker{recipes.NewInterProcessMultiLock(nil, []string{"/l"})},
		"latch":             recipes.NewLeaderLatch(nil, "/l"),
		"selector":          recipes.NewLeaderSelector(nil, "/l"),
		"zero mutex":        &recipes.InterProcessMutex{},
		"zero reader":       (&recipes.InterProcessReadWriteLock{}).Reader(),
		"zero writer":       (&recipes.InterProcessReadWriteLock{}).Writer(),
		"zero semaphore":    &recipes.InterProcessSemaphore{},
		"zero sem. mutex":   &recipes.InterProcessSemaphoreMutex{},
		"zero read lock":    &recipes.ReadLock{},
		"zero write lock":   &recipes.WriteLock{},
		"zero latch":        &recipes.LeaderLatch{},
		"zero selector":     &recipes.LeaderSelector{},
	} {
		calls := callsOf(v)
		require.NotEmpty(t, calls)
		for call, f := range calls {
			t.Run(name+"/"+call, func(t *testing.T) {
				err := f(within(t, 0))
				require.ErrorIs(t, err, zk.ErrBadArguments)
				var wrong *framework.ConfigError
				require.ErrorAs(t, err, &wrong)
				require.Equal(t, "client", wrong.Name)
				require.ErrorAs(t, err, new(*framework.OpError))
			})
		}
	}
	require.ErrorIs(t, recipes.Revoke(t.Context(), nil, "/l/lock-0000000000"), zk.ErrBadArguments)
	require.ErrorIs(t, recipes.SetSharedLimit(t.Context(), nil, "/n", 1), zk.ErrBadArguments)
}

// multiLocker is a multi-lock as a Locker, for its errors.
type multiLocker struct{ *recipes.InterProcessMultiLock }

func (m multiLocker) Acquire(ctx context.Context) (*recipes.Lease, error) {
	_, err := m.InterProcessMultiLock.Acquire(ctx)
	return nil, err
}

func (m multiLocker) TryAcquire(ctx context.Context) (*recipes.Lease, error) {
	_, err := m.InterProcessMultiLock.TryAcquire(ctx)
	return nil, err
}

// What only looks has nothing to tell.
func TestZeroLatchIsOver(t *testing.T) {
	var l recipes.LeaderLatch
	require.True(t, isClosed(l.Done()))
	require.Nil(t, l.Leadership())
	for range l.Changes(t.Context()) {
		t.Error("it never leads")
	}
	require.ErrorIs(t, l.Resign(t.Context()), recipes.ErrNotLeader)
	require.ErrorIs(t, l.HandOver(t.Context()), recipes.ErrNotLeader)
}

func TestNilOptionsAndLocksAreErrors(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, "/l")
		_, err := recipes.NewInterProcessMutex(c, "/l", nil).Acquire(t.Context())
		var wrong *framework.ConfigError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, "option", wrong.Name)
		for _, lock := range []recipes.Locker{nil, (*recipes.InterProcessMutex)(nil), (*recipes.ReadLock)(nil)} {
			_, err := recipes.CombineLocks(m, lock).Acquire(t.Context())
			require.ErrorIs(t, err, zk.ErrBadArguments)
			_, err = recipes.CombineLocks(m, lock).TryAcquire(t.Context())
			require.ErrorIs(t, err, zk.ErrBadArguments)
		}
		require.Empty(t, w.nodes(t, "/l"))
	})
}

// Nothing is acquired for it.
func TestWorkThatIsNilIsAnError(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.connect(t)
		rw := recipes.NewInterProcessReadWriteLock(c, "/l")
		for name, l := range map[string]interface {
			Do(context.Context, func(context.Context) error) error
		}{
			"mutex":           recipes.NewInterProcessMutex(c, "/l"),
			"reader":          rw.Reader(),
			"writer":          rw.Writer(),
			"semaphore":       recipes.NewInterProcessSemaphore(c, "/l", 2),
			"semaphore mutex": recipes.NewInterProcessSemaphoreMutex(c, "/l"),
			"multi-lock":      recipes.NewInterProcessMultiLock(c, []string{"/l"}),
		} {
			require.NotPanics(t, func() { require.ErrorIs(t, l.Do(t.Context(), nil), zk.ErrBadArguments, name) }, name)
		}
		_, _, err := c.Children(t.Context(), "/l")
		require.ErrorIs(t, err, zk.ErrNoNode)
	})
}
