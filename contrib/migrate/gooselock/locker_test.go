package gooselock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/migrate/gooselock"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// process is a client on a host of its own, and a locker.
type process struct {
	host   *zktest.Host
	client *framework.Client
	*gooselock.Locker
}

func newProcess(t *testing.T, srv *zktest.Server) process {
	t.Helper()
	host := srv.NewHost()
	client := curatortest.Connect(t, srv, framework.WithDialer(host.Dialer()))
	return process{host, client, gooselock.New(client, path)}
}

// lose cuts a process off until it knows that its lock is lost, and others can
// have it.
func (p process) lose() {
	p.host.Isolate()
	time.Sleep(2 * time.Minute)
}

// bounded is a context that outlasts all that a test waits for.
func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 24*time.Hour)
	t.Cleanup(cancel)
	return ctx
}

func TestLockNamesTheHolderThatItHasWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		first, second := newProcess(t, srv), newProcess(t, srv)
		require.NoError(t, first.Lock(bounded(t), nil))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := second.SessionLock(ctx, nil)
		var refusal *locks.NotAcquiredError
		require.ErrorAs(t, err, &refusal)
		require.NotEmpty(t, refusal.HolderID())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, first.Unlock(ctx, nil), "although the context has ended")
		require.NoError(t, second.SessionLock(bounded(t), nil))
		require.NoError(t, second.SessionUnlock(bounded(t), nil))
		require.ErrorIs(t, second.SessionUnlock(bounded(t), nil), locks.ErrReleased)
		require.Empty(t, srv.Children(path))
	})
}

func TestUnlockTellsOfALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t, zktest.Start(t))
		require.NoError(t, p.Lock(bounded(t), nil))
		p.lose()
		require.ErrorIs(t, p.Unlock(bounded(t), nil), framework.ErrSessionLost)
		p.host.Heal()
	})
}

func TestContextOfDoEndsBeforeTheNextHasTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		first, second := newProcess(t, srv), newProcess(t, srv)
		begun := make(chan time.Time)
		var ended time.Time
		err := first.Do(bounded(t), func(ctx context.Context) error {
			require.NoError(t, first.Lock(ctx, nil))
			go func() {
				require.NoError(t, second.Lock(bounded(t), nil))
				begun <- time.Now()
			}()
			synctest.Wait()
			first.host.Isolate()
			<-ctx.Done()
			ended = time.Now()
			require.ErrorIs(t, context.Cause(ctx), framework.ErrSessionLost)
			return first.Unlock(ctx, nil)
		})
		require.ErrorIs(t, err, framework.ErrSessionLost)
		require.True(t, ended.Before(<-begun))
		require.NoError(t, second.Unlock(bounded(t), nil))
		first.host.Heal()
	})
}

// A provider that is called under Do has the lock of Do, also while another one of
// the same Locker waits for it.
func TestProviderUnderDoNeedNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		p := newProcess(t, srv)
		other := make(chan error)
		require.NoError(t, p.Do(bounded(t), func(ctx context.Context) error {
			go func() { other <- p.Lock(bounded(t), nil) }()
			synctest.Wait()
			for range 2 {
				require.NoError(t, p.Lock(ctx, nil))
				require.NoError(t, p.Unlock(ctx, nil))
			}
			return nil
		}))
		require.NoError(t, <-other)
		require.NoError(t, p.Unlock(bounded(t), nil))
		require.Empty(t, srv.Children(path))
	})
}

// A provider that has lost its lock, and is not called under Do, goes on.
func TestProvidersOfOneLockerDoNotOverlapAfterALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		p := newProcess(t, srv)
		require.NoError(t, p.Lock(bounded(t), nil))
		p.lose()
		p.host.Heal()

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, p.Lock(ctx, nil), context.DeadlineExceeded)
		synctest.Wait()
		require.Empty(t, srv.Children(path), "it does not keep others from it")

		next := make(chan error)
		go func() { next <- p.Lock(bounded(t), nil) }()
		synctest.Wait()
		require.ErrorIs(t, p.Unlock(bounded(t), nil), framework.ErrSessionLost)
		require.NoError(t, <-next)
		require.NoError(t, p.Unlock(bounded(t), nil), "that is the next one's")
	})
}

// The wait for a provider that goes on without its lock can be longer than a
// session lives.
//
// Promise: A lock that is lost while it waits for another provider is not returned as held.
func TestLockThatIsLostWhileItWaitsForAProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		p := newProcess(t, srv)
		require.NoError(t, p.Lock(bounded(t), nil))
		p.lose()
		p.host.Heal()

		require.NoError(t, p.client.WaitConnected(bounded(t)))
		next := make(chan error)
		go func() { next <- p.Lock(bounded(t), nil) }()
		synctest.Wait()
		require.Len(t, srv.Children(path), 1, "it has the lock, and waits for the provider")
		p.lose()
		p.host.Heal()

		require.ErrorIs(t, p.Unlock(bounded(t), nil), framework.ErrSessionLost)
		require.ErrorIs(t, <-next, framework.ErrSessionLost)
		require.ErrorIs(t, p.Unlock(bounded(t), nil), locks.ErrReleased, "nobody has it")
	})
}

// Providers that are called at once under one Do take turns.
func TestProvidersUnderOneDoTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t, zktest.Start(t))
		require.NoError(t, p.Do(bounded(t), func(ctx context.Context) error {
			require.NoError(t, p.Lock(ctx, nil))
			short, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			err := p.Lock(short, nil)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorContains(t, err, "wait for another provider of this locker: ")
			return p.Unlock(ctx, nil)
		}))
	})
}

func TestZeroLockerCannotBeUsed(t *testing.T) {
	var l gooselock.Locker
	require.ErrorIs(t, l.Lock(t.Context(), nil), zk.ErrBadArguments)
	require.ErrorIs(t, l.SessionLock(t.Context(), nil), zk.ErrBadArguments)
	err := l.Do(t.Context(), func(context.Context) error { panic("called") })
	require.ErrorIs(t, err, zk.ErrBadArguments)
	require.ErrorContains(t, err, "must be made by New")
	require.ErrorIs(t, l.Unlock(t.Context(), nil), locks.ErrReleased)
}

func TestLockerThatCannotBeUsed(t *testing.T) {
	require.ErrorIs(t, gooselock.New(nil, path).Lock(t.Context(), nil), zk.ErrBadArguments)
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t, zktest.Start(t))
		require.ErrorIs(t, gooselock.New(p.client, "migrations").Lock(t.Context(), nil), zk.ErrInvalidPath)
		require.ErrorIs(t, p.Do(t.Context(), nil), zk.ErrBadArguments)
		p.client.Close()
		require.ErrorIs(t, p.Lock(t.Context(), nil), framework.ErrClosed)
	})
}
