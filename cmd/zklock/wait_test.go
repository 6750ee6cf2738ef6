package main

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// The holder of the beginning has gone when the wait ends.
func TestWaitNamesTheHolderOfItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		mutex := func(service string) *locks.InterProcessMutex {
			return locks.NewInterProcessMutex(curatortest.Connect(t, srv, framework.WithServiceName(service)), "/l")
		}
		first, err := mutex("first").Acquire(t.Context())
		require.NoError(t, err)
		second := make(chan *locks.Lease)
		go func() {
			lease, _ := mutex("second").Acquire(t.Context())
			second <- lease
		}()
		synctest.Wait()
		waited := make(chan error)
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			waited <- waitFree(ctx, t.Context(), curatortest.Connect(t, srv), "/l", false)
		}()
		synctest.Wait()
		require.NoError(t, first.Release(t.Context()))
		lease := <-second
		err = <-waited
		require.ErrorIs(t, err, errHeld)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "held by second@")
		require.NoError(t, lease.Release(t.Context()))
	})
}

// The holder goes between the end of the time and the last look: the lock is free.
func TestWaitThatSeesAFreeLockInTheEndSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		srv, waited := waitForAHolder(ctx, t.Context(), t)
		look := srv.Inject(zktest.Rule{Op: zktest.OpAny, Path: "/l", Do: zktest.Call(func(zktest.Request) {
			require.NoError(t, srv.Delete(srv.Queue("/l")[0].Path))
		})})
		require.NoError(t, <-waited)
		require.Error(t, ctx.Err())
		require.Equal(t, 1, look.Hits())
	})
}

// A signal ends a wait at once, and not as if the lock were free.
func TestWaitThatASignalEndsDoesNotLookAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		srv, waited := waitForAHolder(ctx, ctx, t)
		look := srv.Inject(zktest.Rule{Optional: true, Op: zktest.OpAny, Path: "/l", Do: zktest.Blackhole()})
		begun := time.Now()
		cancel(signalError{syscall.SIGINT})
		require.ErrorIs(t, <-waited, errHeld)
		require.Zero(t, time.Since(begun))
		require.Zero(t, look.Hits())
	})
}

// The signal comes when the time is over, and the last look under way.
func TestWaitThatASignalEndsInItsLastLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signaled, signal := context.WithCancelCause(t.Context())
		ctx, cancel := context.WithTimeout(signaled, time.Minute)
		defer cancel()
		srv, waited := waitForAHolder(ctx, signaled, t)
		srv.Inject(zktest.Rule{Op: zktest.OpAny, Path: "/l", Do: zktest.Blackhole()})
		time.Sleep(time.Minute + lastLook/2)
		synctest.Wait()
		require.Empty(t, waited)
		begun := time.Now()
		signal(signalError{syscall.SIGINT})
		require.ErrorIs(t, <-waited, errHeld)
		require.Zero(t, time.Since(begun))
	})
}

// handOver has a lock handed over whenever its holder is read, so many times. Then
// it becomes free. It returns how often that was.
func handOver(t *testing.T, srv *zktest.Server, path string, times int) (done *int) {
	node := func(n int) string { return fmt.Sprintf("%s/lock-%010d", path, n) }
	require.NoError(t, srv.Create(path, nil))
	require.NoError(t, srv.Create(node(0), nil))
	done = new(int)
	srv.Inject(zktest.Rule{Op: zktest.OpGetData, Path: path + "/*", Times: -1, Do: zktest.Call(func(zktest.Request) {
		if *done++; *done < times {
			require.NoError(t, srv.Create(node(*done), nil))
		}
		require.NoError(t, srv.Delete(node(*done-1)))
	})})
	return done
}

// A lock is handed over faster than a request takes. Nobody can tell who holds it,
// and it is not free: the wait goes on until it is, or until its time is over.
//
// Promise: zklock wait does not report a lock as free while contenders hand it over.
func TestWaitTakesNoLockForFreeThatIsHandedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c := curatortest.Connect(t, srv)
		const times = 1000
		done := handOver(t, srv, "/l", times)

		err := waitFree(t.Context(), t.Context(), c, "/l", true)
		require.ErrorIs(t, err, errUndecided)
		require.ErrorContains(t, err, "/l may be held: ")
		require.Equal(t, notAcquired, statusOf(err))

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err = waitFree(ctx, t.Context(), c, "/l", false)
		require.ErrorIs(t, err, errUndecided)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Less(t, *done, times/2, "it pauses between its looks")

		require.NoError(t, waitFree(t.Context(), t.Context(), c, "/l", false))
		require.Equal(t, times, *done)
	})
}

// A wait that cannot tell whether the lock is free has the status of a wait that has
// failed.
func TestWaitThatCannotTellHasTheStatusOfAConflict(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		handOver(t, s.Server, "/l", 1000)
		require.Equal(t, result{
			5, "", "zklock: /l may be held: all listed contenders had left before they could be read\n",
		}, s.zklock(t, "wait", "-n", "-E", "5", "/l"))
	})
}

// waitForAHolder waits until a lock is free that another client holds.
func waitForAHolder(ctx, signaled context.Context, t *testing.T) (*zktest.Server, <-chan error) {
	srv := zktest.Start(t)
	_, err := locks.NewInterProcessMutex(curatortest.Connect(t, srv), "/l").Acquire(t.Context())
	require.NoError(t, err)
	waited := make(chan error, 1)
	c := curatortest.Connect(t, srv)
	go func() { waited <- waitFree(ctx, signaled, c, "/l", false) }()
	synctest.Wait()
	return srv, waited
}

// A semaphore has a waiter and no holder: it is not free, and wait says so.
func TestWaitNamesAWaiterWithoutAHolder(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		require.NoError(t, s.Create("/sem", nil))
		require.NoError(t, s.Create("/sem/leases", nil))
		node(t, s.client(t), "/sem/locks/"+guid(1)+"lock-", identity("orders", 4711))
		require.Equal(t, result{
			notAcquired, "", "zklock: /sem is held by nobody, and orders@web-1/4711 waits for it\n",
		}, s.zklock(t, "wait", "-n", "/sem"))
	})
}
