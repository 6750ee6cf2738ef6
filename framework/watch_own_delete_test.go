package framework_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A watch knows that its own client has deleted the node by the answer, which comes
// behind the event on the same connection.
func TestDeletionIsKnownToBeOurOwn(t *testing.T) {
	ours := func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, c.Delete(t.Context(), "/n", framework.AnyVersion))
	}
	meets := func(op zktest.Op, fault zktest.Action, then func(*testing.T, *zktest.Server, *framework.Client)) func(*testing.T, *zktest.Server, *framework.Client) {
		return func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			srv.Inject(zktest.Rule{Op: op, Do: fault})
			then(t, srv, c)
		}
	}
	for name, tc := range map[string]struct {
		change        func(t *testing.T, srv *zktest.Server, c *framework.Client)
		want, inOrder bool
	}{
		"ours": {ours, true, true},
		"ours, of a version": {func(t *testing.T, _ *zktest.Server, c *framework.Client) {
			require.NoError(t, c.Delete(t.Context(), "/n", 0))
		}, true, true},
		"another client's": {func(t *testing.T, srv *zktest.Server, _ *framework.Client) {
			require.NoError(t, newClient(t, srv).Delete(t.Context(), "/n", framework.AnyVersion))
		}, false, true},
		"another's, just before ours": {func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			srv.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.Call(func(zktest.Request) { _ = srv.Delete("/n") })})
			require.ErrorIs(t, c.Delete(t.Context(), "/n", framework.AnyVersion), zk.ErrNoNode)
		}, false, true},
		"a change, just before ours": {func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			srv.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.Call(func(zktest.Request) { _ = srv.Set("/n", nil) })})
			ours(t, srv, c)
		}, false, true},
		"ours, whose reply is lost":   {meets(zktest.OpDelete, zktest.DropReply(), ours), false, true},
		"ours, behind a lost request": {meets(zktest.OpDelete, zktest.DropRequest(), ours), true, false},
		"ours, behind a reconnect": {func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			srv.CutAll()
			synctest.Wait()
			require.NoError(t, c.WaitConnected(t.Context()))
			time.Sleep(time.Second)
			ours(t, srv, c)
		}, true, false},
		"ours, in the background": {func(_ *testing.T, _ *zktest.Server, c *framework.Client) {
			framework.Extend(c).DeleteInBackground("/n")
		}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				require.NoError(t, srv.Create("/n", nil))
				_, _, w, err := c.GetW(t.Context(), "/n")
				require.NoError(t, err)
				tc.change(t, srv, c)
				_, err = w.Wait(within(t, time.Hour))
				require.NoError(t, err)
				require.Equal(t, tc.want, w.ByOwnDelete(t.Context()))
				require.Equal(t, tc.inOrder, w.InOrder())
			})
		})
	}
}

// The answer is waited for, also if the connection ends without it, and no longer
// than the caller's context or the session.
//
// Promise: An event is taken for this client's own deletion only after the server confirmed the deletion.
func TestAnswerThatTellsOfAnOwnDeletionIsWaitedFor(t *testing.T) {
	for name, tc := range map[string]struct {
		answer func(srv *zktest.Server, c *framework.Client) // two seconds behind the event
		want   bool
	}{
		"it comes":            {func(*zktest.Server, *framework.Client) {}, true},
		"the connection ends": {func(srv *zktest.Server, _ *framework.Client) { srv.CutAll() }, false},
		"the session ends": {func(_ *zktest.Server, c *framework.Client) {
			go c.Close()
			time.Sleep(time.Minute)
		}, false},
		"the caller's time out": {func(*zktest.Server, *framework.Client) { time.Sleep(time.Minute) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				require.NoError(t, srv.Create("/n", nil))
				_, _, w, err := c.GetW(t.Context(), "/n")
				require.NoError(t, err)
				srv.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.CallAfter(func(zktest.Request) {
					time.Sleep(2 * time.Second)
					tc.answer(srv, c)
				})})
				begun := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				go c.Delete(ctx, "/n", framework.AnyVersion)
				<-w.Done()
				require.Zero(t, time.Since(begun))
				require.Equal(t, tc.want, w.ByOwnDelete(ctx))
				require.GreaterOrEqual(t, time.Since(begun), 2*time.Second)
				require.LessOrEqual(t, time.Since(begun), 3*time.Second)
				time.Sleep(time.Hour)
			})
		})
	}
}

// A context of the user's own panics while a Delete is under way. Nobody waits for
// the answer to a request that was not sent.
//
// Promise: A watch does not wait for the reply to a deletion that was never sent.
func TestContextThatPanicsInADeleteOfAWatchedNode(t *testing.T) {
	for nth, hit := int32(1), true; hit; nth++ {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			require.NoError(t, srv.Create("/n", nil))
			_, _, w, err := c.GetW(t.Context(), "/n")
			require.NoError(t, err)
			ctx := newBroken(t.Context(), nth)
			func() {
				defer func() { _ = recover() }()
				_ = c.Delete(ctx, "/n", framework.AnyVersion)
			}()
			synctest.Wait()
			_ = srv.Delete("/n")
			begun := time.Now()
			w.ByOwnDelete(within(t, time.Minute))
			require.Zero(t, time.Since(begun), "panic at %d", nth)
			hit = ctx.hasPanicked()
		})
	}
}

// A read that is under way may be one that is sent behind the Delete, of a node that
// somebody has made anew. So the watch does not count on that Delete.
//
// Promise: A watch that is set after a Delete was sent does not take its event for that Delete.
func TestDeleteBesideAReadIsNotTheWatchs(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, srv.Create("/n", nil))
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.DelayReply(time.Second)})
		var deleted error
		go func() {
			time.Sleep(time.Millisecond) // the read has been sent
			deleted = c.Delete(t.Context(), "/n", framework.AnyVersion)
		}()
		_, _, w, err := c.GetW(t.Context(), "/n")
		require.NoError(t, err)
		<-w.Done()
		synctest.Wait()
		require.NoError(t, deleted)
		require.False(t, w.ByOwnDelete(t.Context()))
	})
}
