package framework_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

func TestWaitersShareOneWatch(t *testing.T) {
	for kind := range watchKinds(nil) {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			mustCreate(t, c, "/n", "")
			var all sync.WaitGroup
			var events atomic.Int32
			for range 1000 {
				all.Go(func() {
					w, err := watchKinds(c)[kind](t.Context(), "/n")
					if !assert.NoError(t, err) {
						return
					}
					ev, err := w.Wait(t.Context())
					assert.NoError(t, err)
					assert.Equal(t, zk.EventNodeDeleted, ev.Type)
					events.Add(1)
				})
			}
			synctest.Wait()
			require.Len(t, srv.Watches(), 1)
			require.NoError(t, c.Delete(t.Context(), "/n", -1))
			all.Wait()
			require.EqualValues(t, 1000, events.Load())
			require.Equal(t, 1, srv.Stats().Notifications)
		})
	}
}

func TestFirstWaiterMayLeaveWhileTheWatchIsBeingSet(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.DelayReply(2 * time.Second)})
		go c.GetW(within(t, time.Second), "/n")
		synctest.Wait()
		_, _, w, err := c.GetW(t.Context(), "/n") // joins, and stays longer than the first
		require.NoError(t, err)
		require.Len(t, srv.Watches(), 1)
		_, err = c.Set(t.Context(), "/n", nil, -1)
		require.NoError(t, err)
		require.True(t, fired(w))
	})
}

func TestWatchSetForACallerThatHasGoneIsWithdrawn(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.DelayReply(2 * time.Second)})
		_, _, _, err := c.GetW(within(t, time.Second), "/")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		time.Sleep(2 * time.Second)
		require.Empty(t, srv.Watches())
	})
}

// Promise: A caller sees what it has written before, although another caller's read of
// the node is in flight.
func TestReadSeesTheCallersOwnWrite(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "old")
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.DelayReply(time.Second)})
		go c.GetW(t.Context(), "/n")
		synctest.Wait()
		_, err := c.Set(t.Context(), "/n", []byte("new"), framework.AnyVersion)
		require.NoError(t, err)
		data, _, w, err := c.GetW(t.Context(), "/n")
		require.NoError(t, err)
		require.Equal(t, "new", string(data))
		require.False(t, fired(w))
	})
}

// The removal of a watch would reach the server after the read that sets it again.
func TestLastWaiterLeavesWhileAnotherReadIsInFlight(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		_, _, first, err := c.GetW(t.Context(), "/n")
		require.NoError(t, err)
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.DelayReply(time.Second)})
		var second *framework.Watch
		var all sync.WaitGroup
		all.Go(func() { _, _, second, err = c.GetW(t.Context(), "/n") })
		synctest.Wait()
		first.Stop()
		all.Wait()
		require.NoError(t, err)
		require.Len(t, srv.Watches(), 1)
		require.NoError(t, c.Delete(t.Context(), "/n", framework.AnyVersion))
		require.True(t, fired(second))
	})
}

func TestWatchIsWithdrawnWhenTheReadInFlightFails(t *testing.T) {
	for name, ends := range map[string]zktest.Action{
		"refused": zktest.All(zktest.DelayReply(time.Second), zktest.Fail(zkinside.ErrSystem)), "caller goes": zktest.DelayReply(3 * time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				mustCreate(t, c, "/n", "")
				_, _, first, err := c.GetW(t.Context(), "/n")
				require.NoError(t, err)
				srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: ends})
				var all sync.WaitGroup
				all.Go(func() {
					_, _, _, err := c.GetW(within(t, 2*time.Second), "/n")
					assert.Error(t, err)
				})
				synctest.Wait()
				first.Stop()
				all.Wait()
				time.Sleep(2 * time.Second)
				synctest.Wait()
				require.Empty(t, srv.Watches())
			})
		})
	}
}
