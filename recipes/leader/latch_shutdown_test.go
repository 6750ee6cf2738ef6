package leader_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// CURATOR-18, TestLeaderLatch#testCreateDeleteRace: a latch, or its client, is
// ended while any of its requests is under way, whatever the outcome of that
// request. No node and no watch is left, and the next candidate leads. No
// goroutine is left either, which synctest's bubble checks.
func TestShutdownAtEveryAwaitPoint(t *testing.T) {
	for _, how := range []string{"leading", "waiting", "resigning", "client closed"} {
		for _, faultName := range slices.Sorted(maps.Keys(recipetest.Faults(nil, 0))) {
			t.Run(how+"/"+faultName, func(t *testing.T) {
				recipetest.EachRequest(t, 1, func(t *testing.T, i int) (hit bool) {
					inVirtualTime(t, func(t *testing.T, w *world) { hit = w.closeAt(t, how, faultName, i) })
					return hit
				})
			})
		}
	}
}

// closeAt injects a fault into a latch's i-th request, and ends the latch soon
// after that. It reports whether there was such a request.
func (w *world) closeAt(t *testing.T, how, faultName string, i int) (hit bool) {
	const soon = 100 * time.Millisecond
	c, _ := w.Connect(t)
	rival, _ := w.Connect(t)
	var next *leader.Latch
	if how == "waiting" {
		next = latch(t, rival, "/l")
		w.await(t, next)
	}
	session := c.SessionID()
	fault := w.Fake.Inject(zktest.Rule{Session: session, After: i, Do: recipetest.Faults(w.World, session)[faultName]})
	// A broken connection must not come back before the latch is ended.
	w.Fake.Inject(zktest.Rule{Op: zktest.OpConnect, Session: session, Times: -1, Do: zktest.DelayRequest(2 * soon)})
	l, err := leader.NewLatch(c, "/l")
	require.NoError(t, err)
	time.Sleep(soon)
	if how == "resigning" {
		l.Resign(recipetest.Within(t, soon))
		time.Sleep(soon)
	}
	if how == "client closed" {
		c.Close()
	}
	start := time.Now()
	if err := l.Shutdown(recipetest.Within(t, soon)); err != nil {
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, soon, time.Since(start))
	}
	require.Nil(t, l.Leadership())
	hit = fault.Hits() > 0

	if how != "waiting" {
		next = latch(t, rival, "/l")
	}
	w.await(t, next)
	require.NoError(t, l.Shutdown(w.Patience(t)), "it waits for the end")
	_, err = l.WaitLeadership(t.Context())
	require.ErrorIs(t, err, map[bool]error{true: framework.ErrClosed, false: leader.ErrClosed}[how == "client closed"])
	w.WaitNodes(t, "/l", 1)
	w.closeAll(t, "/l", next)
	return hit
}

// The client is closed while latches lead, wait and hand over. Leaderships end,
// waits return, and nothing hangs.
func TestClosedClientClosesItsLatches(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		first, second := latch(t, c, path), latch(t, c, path)
		lease := w.oneLeads(t, []*leader.Latch{first, second})
		if first.Leadership() == nil {
			first, second = second, first
		}
		waiting := make(chan error)
		go func() {
			_, err := second.WaitLeadership(ctx)
			waiting <- err
		}()
		handing := make(chan error)
		go func() { handing <- first.HandOver(ctx) }()
		select {
		case <-lease.Revoked():
		case err := <-handing:
			require.ErrorIs(t, err, leader.ErrNoSuccessor) // the other latch has no node yet
			go func() { handing <- nil }()
		}
		require.NoError(t, c.Close())
		require.ErrorIs(t, context.Cause(lease.Context()), framework.ErrClosed)
		require.ErrorIs(t, <-waiting, framework.ErrClosed)
		<-handing
		for _, l := range []*leader.Latch{first, second} {
			_, err := l.WaitLeadership(ctx)
			require.ErrorIs(t, err, framework.ErrClosed)
			require.NoError(t, l.Shutdown(ctx))
		}
		_, err := leader.NewLatch(c, path)
		require.ErrorIs(t, err, framework.ErrClosed)
		w.NothingLeft(t, path)
	})
}

func TestLatchIsShutDownOften(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t)
		l := latch(t, c, path)
		w.await(t, l)
		for range 3 {
			require.NoError(t, l.Shutdown(ctx))
		}
		over, cancel := context.WithCancel(ctx)
		cancel()
		for range 20 { // the latch is shut down, so that succeeds even with an ended context
			require.NoError(t, l.Shutdown(over))
		}
		_, err := l.WaitLeadership(ctx)
		require.ErrorIs(t, err, leader.ErrClosed)
		w.NothingLeft(t, path)
	})
}

// CURATOR-110, TestLeaderLatch#testNoServerAtStart and
// #testProperCloseWithoutConnectionEstablished: a latch may be made, and shut
// down, without a server.
func TestNewLatchNeedsNoServer(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.Stop()
		c, err := framework.New(w.Addr, framework.WithDialer(w.Dial), framework.WithSessionTimeout(w.Session))
		require.NoError(t, err)
		defer c.Close()
		l, closed := latch(t, c, "/l", leader.WithCloseNotification()), latch(t, c, "/l")
		changes := l.Changes(t.Context())
		time.Sleep(time.Hour)
		require.NoError(t, closed.Shutdown(t.Context()))
		_, err = l.WaitLeadership(recipetest.Within(t, time.Second))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		w.Start()
		lease := w.await(t, l)
		time.Sleep(time.Minute)
		require.Equal(t, lease, l.Leadership(), "one election only")
		require.Len(t, w.Nodes(t, "/l"), 1)
		require.NoError(t, l.Shutdown(t.Context()))
		heard, _ := collect(changes)
		require.Len(t, heard, 2)
		w.NothingLeft(t, "/l")
	})
}

// closeNotification returns the options of a latch. If notify is set, the latch
// tells readers of Changes when Shutdown ends a leadership.
func closeNotification(notify bool) []leader.LatchOption {
	if !notify {
		return nil
	}
	return []leader.LatchOption{leader.WithCloseNotification()}
}

// TestLeaderLatch#testCallbackNotifyLeader, #testCallbackDontNotify: Changes
// tells of an end by Shutdown only with WithCloseNotification.
func TestChangesAreToldInOrderWithShutdown(t *testing.T) {
	for _, notify := range []bool{false, true} {
		t.Run(fmt.Sprint("notify=", notify), func(t *testing.T) {
			onFakeAndReal(t, func(t *testing.T, w *world) {
				ctx, path := w.Patience(t), recipetest.Path(t)
				c, _ := w.Connect(t)
				l := latch(t, c, path, closeNotification(notify)...)
				changes := l.Changes(ctx)
				lease := w.await(t, l)
				require.NoError(t, lease.Release(ctx))
				again := w.await(t, l)
				require.NoError(t, l.Shutdown(ctx))
				want := []leader.Change{{Lease: lease}, {Lease: lease, Ended: locks.ErrReleased}, {Lease: again}}
				if notify {
					want = append(want, leader.Change{Lease: again, Ended: locks.ErrReleased})
				}
				heard, err := collect(changes)
				require.Equal(t, want, heard)
				require.ErrorIs(t, err, leader.ErrClosed)
				heard, err = collect(l.Changes(ctx))
				require.Empty(t, heard, "shut down")
				require.ErrorIs(t, err, leader.ErrClosed)
			})
		})
	}
}

// CURATOR-365, TestLeaderAcls#testAclErrorWithLeader: an error that does not go
// away with time ends the candidacy.
func TestLatchWithoutRightsDoesNotLoop(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		_, err := w.Observer.Create(ctx, path, nil, framework.WithACL(zk.WorldACL(zk.PermRead)))
		require.NoError(t, err)
		c, _ := w.Connect(t)
		l := latch(t, c, path)
		_, err = l.WaitLeadership(ctx)
		require.ErrorIs(t, err, zk.ErrNoAuth)
		require.Nil(t, l.Leadership())
		if w.Fake != nil {
			synctest.Wait() // the listing is sent along with the create that was refused
			w.Fake.ClearRequests()
			time.Sleep(time.Hour)
			require.Empty(t, w.Requests())
		}
		require.NoError(t, l.Shutdown(ctx))
		_, err = l.WaitLeadership(ctx)
		require.ErrorIs(t, err, zk.ErrNoAuth, "it stays the reason")
	})
}

// Shutdown does not wait for the goroutines that wait, ask or read meanwhile.
// It makes their calls return.
func TestShutdownReleasesThoseWhoWait(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		latches, lease := w.startLatches(t, "/l", 2)
		returned := make(chan error)
		for range 3 {
			go func() {
				_, err := latches[1].WaitLeadership(t.Context())
				returned <- err
			}()
			go func() {
				heard, err := collect(latches[1].Changes(t.Context()))
				assert.Empty(t, heard, "nothing has changed")
				returned <- err
			}()
			go func() { returned <- errors.Join(latches[1].Shutdown(t.Context()), leader.ErrClosed) }()
		}
		for range 9 {
			require.ErrorIs(t, <-returned, leader.ErrClosed)
		}
		synctest.Wait()
		require.NoError(t, lease.Context().Err())
		w.closeAll(t, "/l", latches...)
	})
}

// A grant that crosses with Shutdown begins a leadership that ends at once.
// With WithCloseNotification, readers of Changes are told of its beginning and
// its end. Without that option, they are told of neither.
func TestGrantThatComesWithShutdown(t *testing.T) {
	for _, notify := range []bool{false, true} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			tracer := &locktest.Spy{}
			c, _ := w.Connect(t, framework.WithHooks(tracer))
			followed := make(chan *leader.Latch, 1)
			tracer.Granted = func() {
				ctx, cancel := context.WithCancel(context.Background())
				cancel() // Shutdown does not wait
				(<-followed).Shutdown(ctx)
			}
			l := latch(t, c, "/l", closeNotification(notify)...)
			changes := l.Changes(t.Context())
			followed <- l
			heard, _ := collect(changes)
			if notify {
				require.Len(t, heard, 2)
				require.NoError(t, heard[0].Ended)
				require.Same(t, heard[0].Lease, heard[1].Lease)
				require.ErrorIs(t, heard[1].Ended, locks.ErrReleased)
			} else {
				require.Empty(t, heard)
			}
			require.ErrorIs(t, l.Err(), leader.ErrClosed)
			w.closeAll(t, "/l", l)
		})
	}
}
