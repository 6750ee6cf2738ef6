package locks_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// policyOption is an option for each lock that can have a release policy.
type policyOption interface {
	locks.MutexOption
	locks.ReadWriteOption
}

func handingOver(n int, d time.Duration) policyOption {
	return locks.WithReleasePolicy(locks.ReleasePolicy{MaxReuses: n, HandOver: d})
}

func idleFor(n int, d time.Duration) policyOption {
	return locks.WithReleasePolicy(locks.ReleasePolicy{MaxReuses: n, Idle: d})
}

func heldFor(d time.Duration) policyOption {
	return locks.WithReleasePolicy(locks.ReleasePolicy{MinimumHold: d})
}

// Promise: The zero ReleasePolicy gives the lock back at once.
func TestZeroReleasePolicyGivesTheLockBackAtOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		require.NoError(t, w.Fake.Create(path, nil))
		c, _ := w.Connect(t)
		w.Fake.ClearRequests()
		// The last policy counts.
		m := locks.NewInterProcessMutex(c, path, idleFor(9, time.Minute), locks.WithReleasePolicy(locks.ReleasePolicy{}))
		require.NoError(t, locktest.Acquire(t, ctx, m).Release(ctx))
		require.Equal(t, []zktest.Op{zktest.OpCreate, zkinside.OpGetChildren2, zktest.OpDelete}, w.Requests())
		w.NothingLeft(t, path)
	})
}

// Promise: A release policy that contradicts itself, or the kind of lock, is an error of every acquire.
func TestReleasePolicyThatCannotBe(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		mutex, readWrite := []string{"mutex"}, []string{"read", "write"}
		all := append(mutex, readWrite...)
		for _, tt := range []struct {
			policy  locks.ReleasePolicy
			refused []string
			says    string
		}{
			{locks.ReleasePolicy{}, nil, ""},
			{locks.ReleasePolicy{MaxReuses: 1, Idle: 1}, nil, ""},
			{locks.ReleasePolicy{MaxReuses: 1, HandOver: 1}, readWrite, "neither HandOver nor MinimumHold"},
			{locks.ReleasePolicy{MaxReuses: 1, HandOver: 1, Idle: 1}, readWrite, "neither HandOver nor MinimumHold"},
			{locks.ReleasePolicy{MinimumHold: 1}, readWrite, "neither HandOver nor MinimumHold"},
			{locks.ReleasePolicy{MaxReuses: 1}, all, "MaxReuses needs"},
			{locks.ReleasePolicy{MaxReuses: 1, MinimumHold: 1}, mutex, "MaxReuses needs"},
			{locks.ReleasePolicy{HandOver: 1}, mutex, "MaxReuses needs"},
			{locks.ReleasePolicy{Idle: 1}, all, "MaxReuses needs"},
			{locks.ReleasePolicy{MaxReuses: 1, Idle: 1, MinimumHold: 1}, mutex, "contradicts"},
			{locks.ReleasePolicy{MaxReuses: 1, HandOver: 1, MinimumHold: 1}, mutex, "contradicts"},
			{locks.ReleasePolicy{MaxReuses: -1}, all, "negative"},
			{locks.ReleasePolicy{MaxReuses: -1, Idle: 1}, all, "negative"},
			{locks.ReleasePolicy{MaxReuses: 1, HandOver: 1, Idle: -1}, mutex, "negative"},
			{locks.ReleasePolicy{MaxReuses: 1, HandOver: -1, Idle: 1}, all, "negative"},
			{locks.ReleasePolicy{MinimumHold: -1}, all, "negative"},
		} {
			opt := locks.WithReleasePolicy(tt.policy)
			rw := locks.NewInterProcessReadWriteLock(c, "/rw", opt)
			lockers := map[string]locks.Locker{
				"mutex": locks.NewInterProcessMutex(c, "/l", opt), "read": rw.ReadLock(), "write": rw.WriteLock(),
			}
			for _, kind := range tt.refused {
				for _, acquire := range []func() (*locks.Lease, error){
					func() (*locks.Lease, error) { return lockers[kind].Acquire(t.Context()) },
					func() (*locks.Lease, error) { return lockers[kind].TryAcquire(t.Context()) },
				} {
					_, err := acquire()
					require.ErrorIs(t, err, zk.ErrBadArguments, "%s %+v", kind, tt.policy)
					var config *framework.ConfigError
					require.ErrorAs(t, err, &config)
					require.ErrorContains(t, err, tt.says)
				}
				delete(lockers, kind)
			}
			if tt.says == "" || len(tt.refused) == len(readWrite) {
				for kind, l := range lockers {
					require.NoError(t, locktest.Acquire(t, t.Context(), l).Release(t.Context()), "%s %+v", kind, tt.policy)
				}
			}
		}
	})
}
