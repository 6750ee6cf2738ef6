package locks_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
)

// Whatever ends a lease ends an idle lock. Its node goes, and the next acquire
// has another one.
//
// Promise: A cached lock is released when another client requests it.
// Promise: The node of a cached lock that is lost is deleted at once.
func TestIdleLockIsLostLikeALease(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, w *world, c *framework.Client, network *recipetest.Network, node string){
		"session": func(_ *testing.T, w *world, c *framework.Client, _ *recipetest.Network, _ string) {
			w.Fake.Session(c.SessionID()).Expire()
		},
		"time is up": func(_ *testing.T, _ *world, c *framework.Client, network *recipetest.Network, _ string) {
			heal := network.Isolate()
			time.Sleep(15 * time.Second)
			heal()
		},
		"suspended": func(_ *testing.T, _ *world, _ *framework.Client, network *recipetest.Network, _ string) {
			network.Cut()
			time.Sleep(time.Second)
		},
		"node": func(t *testing.T, w *world, _ *framework.Client, _ *recipetest.Network, node string) {
			require.NoError(t, w.Fake.Delete(node))
		},
		"revoked": func(t *testing.T, w *world, _ *framework.Client, _ *recipetest.Network, node string) {
			require.NoError(t, locks.Revoke(t.Context(), w.Observer, node))
			time.Sleep(2 * time.Second)
		},
	} {
		for _, revocable := range []bool{false, true} {
			if revocable && name != "revoked" {
				continue
			}
			t.Run(name, func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					ctx, path := w.Patience(t), recipetest.Path(t)
					var clientOpts []framework.Option
					if name == "suspended" {
						clientOpts = append(clientOpts, framework.WithErrorPolicy(state.StandardPolicy))
					}
					c, network := w.Connect(t, clientOpts...)
					var opts []locks.MutexOption
					if revocable {
						opts = append(opts, locks.WithRevocation())
					}
					m := cachedMutex(c, path, opts...)
					first := once(t, ctx, m)
					synctest.Wait()
					lose(t, w, c, network, first.Path())
					synctest.Wait()
					require.False(t, w.exists(first.Path()))
					require.NoError(t, c.WaitConnected(ctx))
					again := once(t, ctx, m)
					require.Greater(t, again.FencingToken(), first.FencingToken())
					w.NothingLeft(t, path)
				})
			})
		}
	}
}

// A machine wakes up when the session's time is over. An acquire that comes before
// the client has noticed does not get the lock of that session.
//
// Promise: A cached lock is not reused after the session's time ran out.
func TestIdleLockIsNotHandedOutAfterASleep(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		host := w.Fake.NewHost()
		c, _ := w.Connect(t, framework.WithDialer(host.Dialer()), insider.WithSuspendClock(zkinside.Suspended(host)).(framework.Option))
		m := cachedMutex(c, path)
		first := once(t, ctx, m)
		synctest.Wait()
		host.Isolate() // the client learns nothing from the servers
		require.NoError(t, host.Suspend(time.Hour))
		waiting := locktest.AcquireLater(ctx, m)
		synctest.Wait()
		require.False(t, waiting.IsOver(), "it has the lock of a session whose time is up")
		host.Heal()
		again := waiting.Wait(t)
		require.Greater(t, again.FencingToken(), first.FencingToken())
		require.NoError(t, again.Context().Err())
		require.NoError(t, again.Release(ctx))
		w.NothingLeft(t, path)
	})
}
