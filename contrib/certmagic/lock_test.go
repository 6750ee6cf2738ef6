package certmagic_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	certstore "github.com/gocurator/curator/contrib/certmagic"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// lockSoon begins a Lock, and returns its error once there is one.
func lockSoon(ctx context.Context, p *process, name string) <-chan error {
	done := make(chan error, 1)
	go func() { done <- p.Lock(ctx, name) }()
	synctest.Wait()
	return done
}

func requirePending(t *testing.T, done <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-done:
		require.FailNow(t, "it has not waited", "%v", err)
	default:
	}
}

// Processes, storages of one client, and goroutines with one storage exclude each
// other.
func TestOneHasALock(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, b *process) {
		ctx := bounded(t)
		sameClient := &process{Storage: storageOf(t, a.client), client: a.client}
		require.NoError(t, a.Lock(ctx, "name"))
		var others []<-chan error
		for _, p := range []*process{b, sameClient, a} {
			ok, err := p.TryLock(ctx, "name")
			require.NoError(t, err)
			require.False(t, ok)
			others = append(others, lockSoon(ctx, p, "name"))
		}
		ok, err := b.TryLock(ctx, "another")
		require.NoError(t, err)
		require.True(t, ok)
		require.NoError(t, b.Unlock(ctx, "another"))
		for _, done := range others {
			requirePending(t, done)
		}
		require.NoError(t, a.Unlock(ctx, "name"))
		for left := 3; left > 0; left-- {
			select {
			case err := <-others[0]:
				require.NoError(t, err)
				require.NoError(t, b.Unlock(ctx, "name"))
				others[0] = nil
			case err := <-others[1]:
				require.NoError(t, err)
				require.NoError(t, sameClient.Unlock(ctx, "name"))
				others[1] = nil
			case err := <-others[2]:
				require.NoError(t, err)
				require.NoError(t, a.Unlock(ctx, "name"))
				others[2] = nil
			}
		}
		require.Empty(t, srv.Children(root+"/locks/name"))
	})
}

// A Lock waits no longer than its context, in the process and at the server, and
// leaves nothing behind.
func TestLockEndsWithItsContext(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, b *process) {
		require.NoError(t, a.Lock(bounded(t), "name"))
		for _, p := range []*process{a, b} {
			require.ErrorIs(t, p.Lock(within(t, time.Minute), "name"), context.DeadlineExceeded)
			ended, cancel := context.WithCancel(bounded(t))
			cancel()
			require.ErrorIs(t, p.Lock(ended, "name"), context.Canceled)
		}
		ended, cancel := context.WithCancel(bounded(t))
		cancel()
		_, err := b.TryLock(ended, "name")
		require.ErrorIs(t, err, context.Canceled)
		synctest.Wait() // the client deletes the nodes of those who have gone
		require.Len(t, srv.Children(root+"/locks/name"), 1)
		require.NoError(t, a.Unlock(bounded(t), "name"))
		require.NoError(t, b.Lock(bounded(t), "name"))
		require.NoError(t, b.Unlock(bounded(t), "name"))
	})
}

func TestLockEndsWithTheClient(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *zktest.Server, a, b *process) {
		require.NoError(t, a.Lock(bounded(t), "name"))
		inside, outside := lockSoon(bounded(t), a, "name"), lockSoon(bounded(t), b, "name")
		require.NoError(t, b.client.Close())
		require.ErrorIs(t, <-outside, framework.ErrClosed)
		require.NoError(t, a.client.Close())
		require.ErrorIs(t, <-inside, framework.ErrClosed)
		require.ErrorIs(t, a.Unlock(bounded(t), "name"), certstore.ErrLockLost)
	})
}

func TestUnlockOfALockThatIsNotHeld(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *zktest.Server, a, b *process) {
		ctx := bounded(t)
		require.ErrorContains(t, a.Unlock(ctx, "name"), "does not hold the lock")
		require.NoError(t, a.Lock(ctx, "name"))
		require.ErrorContains(t, b.Unlock(ctx, "name"), "does not hold the lock")
		waiting := lockSoon(ctx, b, "name")
		require.ErrorContains(t, b.Unlock(ctx, "name"), "does not hold the lock", "it only waits")
		require.NoError(t, a.Unlock(ctx, "name"))
		require.ErrorContains(t, a.Unlock(ctx, "name"), "does not hold the lock")
		require.NoError(t, <-waiting)
		require.NoError(t, b.Unlock(ctx, "name"))
	})
}

// Each name has a separate lock.
func TestNamesOfLocks(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, b *process) {
		ctx := bounded(t)
		names := append([]string{"", ".", "..", "a/b", "/a", "a/", "a", "\x00", "keys"}, strangeNames...)
		for _, name := range names {
			require.NoError(t, a.Lock(ctx, name), "%q", name)
			ok, err := b.TryLock(ctx, name)
			require.NoError(t, err, "%q", name)
			require.False(t, ok, "%q", name)
		}
		require.Len(t, srv.Children(root+"/locks"), len(names))
		for _, name := range names {
			require.NoError(t, a.Unlock(ctx, name), "%q", name)
		}
	})
}

// A goroutine whose lock is lost does not free the lock of the next one.
//
// Promise: Unlock of a lost lock does not free the lock of the next holder.
func TestUnlockOfALostLock(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *zktest.Server, a, b *process) {
		ctx := bounded(t)
		require.NoError(t, a.Lock(ctx, "name"))
		a.host.LoseSessions()
		require.NoError(t, b.Lock(ctx, "name"), "the next process has it")
		again := lockSoon(ctx, a, "name")
		require.NoError(t, b.Unlock(ctx, "name"))
		requirePending(t, again)
		err := a.Unlock(ctx, "name")
		require.ErrorIs(t, err, certstore.ErrLockLost)
		require.ErrorIs(t, err, framework.ErrSessionLost)
		require.NoError(t, <-again)
		require.NoError(t, a.Unlock(ctx, "name"))
	})
}

// The attempts of certmagic are minutes or days apart.
func TestLostLockIsTakenAgainForTheNextAttempt(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, b *process) {
		ctx := bounded(t)
		require.ErrorContains(t, a.RenewLockLease(ctx, certLock, time.Hour), "does not hold the lock")
		require.NoError(t, a.Lock(ctx, certLock))
		srv.ClearRequests()
		require.NoError(t, a.RenewLockLease(ctx, certLock, time.Hour))
		require.Zero(t, srv.CountRequests(zktest.OpAny), "it is held")

		a.host.LoseSessions()
		require.NoError(t, b.Lock(ctx, certLock))
		require.ErrorIs(t, a.RenewLockLease(within(t, time.Minute), certLock, time.Hour), context.DeadlineExceeded)
		require.ErrorIs(t, a.Store(ctx, certKey, nil), certstore.ErrLockLost)
		renewed := make(chan error, 1)
		go func() { renewed <- a.RenewLockLease(ctx, certLock, time.Hour) }()
		requirePending(t, renewed)
		require.NoError(t, b.Store(ctx, certKey, []byte("b")))
		require.NoError(t, b.Unlock(ctx, certLock))
		require.NoError(t, <-renewed)
		ok, err := b.TryLock(ctx, certLock)
		require.NoError(t, err)
		require.False(t, ok)
		require.NoError(t, a.Store(ctx, certKey, []byte("a")))
		require.NoError(t, a.Unlock(ctx, certLock))
		require.Empty(t, srv.Children(root+"/locks/"+certLock))
	})
}

// An Unlock during the wait for a lost lock ends the hold all the same.
//
// Promise: A lock that is unlocked while it is acquired again is released.
func TestUnlockWhileALostLockIsTakenAgain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, b *process) {
		ctx := bounded(t)
		require.NoError(t, a.Lock(ctx, certLock))
		a.host.LoseSessions()
		require.NoError(t, b.Lock(ctx, certLock))
		renewed := make(chan error, 1)
		go func() { renewed <- a.RenewLockLease(ctx, certLock, time.Hour) }()
		requirePending(t, renewed)
		require.ErrorIs(t, a.Unlock(ctx, certLock), certstore.ErrLockLost)
		require.NoError(t, b.Unlock(ctx, certLock))
		require.ErrorContains(t, <-renewed, "does not hold the lock")
		require.Empty(t, srv.Children(root+"/locks/"+certLock))
	})
}

func TestLockThatIsRefused(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, _ *process) {
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Path: root + "/locks/name/*", Do: zktest.Fail(zktest.ErrNoAuth), Times: 2})
		require.Error(t, a.Lock(bounded(t), "name"))
		ok, err := a.TryLock(bounded(t), "name")
		require.Error(t, err)
		require.NotErrorIs(t, err, locks.ErrNotAcquired)
		require.False(t, ok)
		require.NoError(t, a.Lock(bounded(t), "name"), "it is as if nothing had been")
		require.NoError(t, a.Unlock(bounded(t), "name"))
	})
}
