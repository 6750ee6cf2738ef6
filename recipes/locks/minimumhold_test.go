package locks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// minimumHold is the minimum hold of the mutexes of these tests. It is longer than a
// session timeout.
const minimumHold = time.Minute

func holdingMutex(c *framework.Client, path string) *locks.InterProcessMutex {
	return locks.NewInterProcessMutex(c, path, heldFor(minimumHold))
}

// shortJob acquires a lock, holds it for a second, and releases it. It returns the
// lease.
func shortJob(t *testing.T, ctx context.Context, l locks.Locker) *locks.Lease {
	t.Helper()
	lease := locktest.Acquire(t, ctx, l)
	time.Sleep(time.Second)
	require.NoError(t, lease.Release(ctx))
	require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrReleased)
	return lease
}

// Two processes want the lock of a job that was short: one of them, and one that
// only tries. The clients of one process are no better off than the others.
//
// Promise: A lock with a minimum hold stays held after its release.
func TestMinimumHoldKeepsEverybodyOut(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		other, _ := w.Connect(t)
		mutex, theirs := holdingMutex(c, path), locks.NewInterProcessMutex(other, path)
		for name, next := range map[string]locks.Locker{
			"another process": theirs, "the same object": mutex, "another object": locks.NewInterProcessMutex(c, path),
		} {
			start := time.Now()
			first := shortJob(t, ctx, mutex)
			require.Equal(t, time.Second, time.Since(start), "the release does not wait: %s", name)
			for _, l := range []locks.Locker{theirs, mutex, locks.NewInterProcessMutex(c, path)} {
				_, err := l.TryAcquire(ctx)
				require.ErrorIs(t, err, locks.ErrNotAcquired, name)
				require.ErrorContains(t, err, "released, and kept until "+start.Add(minimumHold).UTC().Format(time.RFC3339), name)
				require.NotContains(t, err.Error(), "re-enter", name)
			}
			second := locktest.AcquireLater(ctx, next)
			time.Sleep(minimumHold - time.Second - 1)
			require.False(t, second.IsOver(), name)
			lease := second.Wait(t)
			require.Equal(t, minimumHold, time.Since(start), name)
			require.Greater(t, lease.FencingToken(), first.FencingToken(), name)
			time.Sleep(2 * minimumHold)
			require.NoError(t, lease.Release(ctx))
		}
		w.NothingLeft(t, path)
	})
}

// An operator asks for the lock, or deletes its node, or the holder itself has
// found nothing to do.
//
// Promise: A minimum hold ends when another client requests the lock.
func TestMinimumHoldEndsForOneThatAsks(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		other, _ := w.Connect(t)
		for name, ask := range map[string]func(*locks.Lease){
			"revoked after the release": func(l *locks.Lease) {
				require.NoError(t, l.Release(ctx))
				require.NoError(t, locks.Revoke(ctx, other, l.Path()))
			},
			"revoked before the release": func(l *locks.Lease) {
				require.NoError(t, locks.Revoke(ctx, c, l.Path()))
				<-l.Revoked()
				require.NoError(t, l.Release(ctx))
			},
			"revoked, and the holder does not know": func(l *locks.Lease) {
				require.NoError(t, locks.Revoke(ctx, other, l.Path()))
				require.NoError(t, l.Release(ctx))
			},
			"deleted after the release": func(l *locks.Lease) {
				require.NoError(t, l.Release(ctx))
				require.NoError(t, other.Delete(ctx, l.Path(), framework.AnyVersion))
			},
		} {
			for _, next := range []locks.Locker{holdingMutex(c, path), locks.NewInterProcessMutex(other, path)} {
				ask(locktest.Acquire(t, ctx, holdingMutex(c, path)))
				synctest.Wait()
				require.Empty(t, w.Nodes(t, path), name)
				lease, err := next.TryAcquire(ctx)
				require.NoError(t, err, name)
				time.Sleep(minimumHold)
				require.NoError(t, lease.Release(ctx))
			}
		}
		w.NothingLeft(t, path)
	})
}

// A process ends cleanly. Its session keeps the lock for its timeout, and nothing
// else.
//
// Promise: A minimum hold survives the end of its client.
func TestMinimumHoldSurvivesTheClient(t *testing.T) {
	for name, released := range map[string]bool{"released": true, "held": false} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				mine := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, path+"-mine"))
				lease := locktest.Acquire(t, ctx, holdingMutex(c, path))
				time.Sleep(2 * time.Second) // the last ping is a while ago
				if released {
					require.NoError(t, lease.Release(ctx))
				}
				closed := time.Now()
				require.NoError(t, c.Close())
				require.Less(t, time.Since(closed), time.Second)
				require.True(t, w.exists(lease.Path()))
				require.False(t, w.exists(mine.Path()), "other locks are free")
				synctest.Wait() // the server sees the end of the connection
				require.Zero(t, w.Fake.Stats().Connections-1, "but for the observer's")

				time.Sleep(w.Session - 1)
				require.True(t, w.exists(lease.Path()))
				other, _ := w.Connect(t)
				next := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(other, path))
				require.Less(t, time.Since(closed), minimumHold, "the session is no longer")
				require.NoError(t, next.Release(ctx))
				w.NothingLeft(t, path)
			})
		})
	}
}

// Real servers do the same with a session that nobody resumes.
func TestSessionKeepsTheLockOfAClosedClient(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t, w.ShortLived()...)
		mine := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, path+"-mine"))
		lease := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, path, heldFor(time.Hour)))
		require.NoError(t, lease.Release(ctx))
		closed := time.Now()
		require.NoError(t, c.Close())
		there, _, err := w.Observer.Exists(ctx, mine.Path())
		require.NoError(t, err)
		require.False(t, there)
		next := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(w.Observer, path))
		require.GreaterOrEqual(t, time.Since(closed), recipetest.ShortSession)
		require.Less(t, time.Since(closed), time.Minute)
		require.Greater(t, next.FencingToken(), lease.FencingToken())
		require.NoError(t, next.Release(ctx))
	})
}

// The end of the client comes when no lock has to stay any more.
//
// Promise: A client whose minimum holds are over ends its session.
func TestClientEndsItsSessionAfterTheMinimumHold(t *testing.T) {
	for name, play := range map[string]func(t *testing.T, ctx context.Context, w *world, c *framework.Client, l *locks.Lease){
		"released long ago": func(t *testing.T, ctx context.Context, _ *world, _ *framework.Client, l *locks.Lease) {
			require.NoError(t, l.Release(ctx))
			time.Sleep(minimumHold)
		},
		"held for long": func(*testing.T, context.Context, *world, *framework.Client, *locks.Lease) { time.Sleep(minimumHold) },
		"asked for": func(t *testing.T, ctx context.Context, _ *world, c *framework.Client, l *locks.Lease) {
			require.NoError(t, l.Release(ctx))
			require.NoError(t, locks.Revoke(ctx, c, l.Path()))
			synctest.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				play(t, ctx, w, c, locktest.Acquire(t, ctx, holdingMutex(c, path)))
				session := c.SessionID()
				require.NoError(t, c.Close())
				for _, s := range w.Fake.Sessions() {
					require.NotEqual(t, session, s.ID)
				}
				w.NothingLeft(t, path)
			})
		})
	}
}

// The server does not answer the deletion of a lock that was asked for, and then the
// client is closed.
func TestClientEndsItsSessionBeforeALockThatWasAskedForIsDeleted(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		lease := shortJob(t, ctx, holdingMutex(c, path))
		w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Op: zktest.OpDelete, Do: zktest.Blackhole()})
		require.NoError(t, locks.Revoke(ctx, w.Observer, lease.Path()))
		synctest.Wait()
		require.True(t, w.exists(lease.Path()))
		require.NoError(t, c.Close())
		require.False(t, w.exists(lease.Path()))
		w.NothingLeft(t, path)
	})
}

// Nobody works, so that the lock need not go when its session is lost, nor when it
// is suspended, whatever the policy.
//
// Promise: A minimum hold survives an interruption as long as the session lasts.
func TestMinimumHoldLastsAsLongAsTheSession(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, network := w.Connect(t, framework.WithErrorPolicy(state.StandardPolicy))
		mutex := holdingMutex(c, path)
		start := time.Now()
		lease := shortJob(t, ctx, mutex)
		heal := network.Isolate()
		network.Cut()
		time.Sleep(time.Second)
		require.True(t, w.exists(lease.Path()), "an interruption")
		heal()
		time.Sleep(minimumHold/2 - 2*time.Second)
		require.True(t, w.exists(lease.Path()))
		_, err := mutex.TryAcquire(ctx)
		require.ErrorIs(t, err, locks.ErrNotAcquired)

		heal = network.Isolate()
		time.Sleep(2 * w.Session)
		require.False(t, w.exists(lease.Path()), "the servers have ended the session")
		heal()
		next := locktest.Acquire(t, ctx, mutex)
		require.Less(t, time.Since(start), minimumHold)
		time.Sleep(minimumHold)
		require.NoError(t, next.Release(ctx))
		w.NothingLeft(t, path)
	})
}

// A holder that has lost the lock does not keep the next one out.
func TestLostLeaseHasNoMinimumHold(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, network := w.Connect(t)
		lease := locktest.Acquire(t, ctx, holdingMutex(c, path))
		heal := network.Isolate()
		<-lease.Context().Done()
		require.ErrorIs(t, lease.Release(ctx), framework.ErrSessionLost)
		heal()
		next := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, path))
		require.NoError(t, next.Release(ctx))
		w.NothingLeft(t, path)
	})
}

// What the node says is for people: for all others, the lock is held.
func TestNodeOfAMinimumHoldSaysHowLongItStays(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t, framework.WithServiceName("report"))
		until := time.Now().Add(minimumHold)
		for name, tt := range map[string]struct {
			opts []locks.MutexOption
			kept bool
			id   string
		}{
			"usual":     {nil, true, "report@"},
			"anonymous": {[]locks.MutexOption{locks.WithoutIdentity()}, true, "unknown"},
			"own data":  {[]locks.MutexOption{locks.WithNodeData([]byte("mine"))}, false, "mine"},
		} {
			of := path + "/" + tt.id[:4]
			mutex := locks.NewInterProcessMutex(c, of, append(tt.opts, heldFor(minimumHold))...)
			require.NoError(t, locktest.Acquire(t, ctx, mutex).Release(ctx))
			all, err := locks.NewInterProcessMutex(w.Observer, of).Participants(ctx)
			require.NoError(t, err)
			require.True(t, all[0].Holder, name)
			require.Contains(t, all[0].ID(), tt.id, name)
			require.Equal(t, tt.kept, !all[0].Identity().KeptUntil.IsZero(), name)
			if tt.kept {
				require.WithinDuration(t, until, all[0].Identity().KeptUntil, time.Millisecond, name)
			}
		}
		time.Sleep(minimumHold)
	})
}

func TestMinimumHoldThatCannotBe(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		hold := heldFor(minimumHold)
		for name, l := range map[string]locks.Locker{
			"negative": locks.NewInterProcessMutex(c, path, heldFor(-1)),
			"hand-over": locks.NewInterProcessMutex(c, path, locks.WithReleasePolicy(locks.ReleasePolicy{
				MinimumHold: minimumHold, MaxReuses: 2, HandOver: time.Second,
			})),
			"idle": locks.NewInterProcessMutex(c, path, locks.WithReleasePolicy(locks.ReleasePolicy{
				MinimumHold: minimumHold, MaxReuses: 2, Idle: time.Second,
			})),
			"multi-lock":     locks.NewInterProcessMultiLock(locks.NewInterProcessMutex(c, path+"/a"), holdingMutex(c, path+"/b")),
			"sorted mutexes": locks.NewInterProcessMultiLock(locks.SortedMutexes(c, []string{path + "/a", path + "/b"}, hold)...),
		} {
			for _, acquire := range []func(locks.Locker, context.Context) (*locks.Lease, error){locks.Locker.Acquire, locks.Locker.TryAcquire} {
				_, err := acquire(l, ctx)
				require.ErrorIs(t, err, zk.ErrBadArguments, name)
				var config *framework.ConfigError
				require.ErrorAs(t, err, &config, name)
			}
		}
		w.NothingLeft(t, path)
	})
}
