package framework_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A caller sees what it has written before: the read that is under way was sent
// before that.
//
// Promise: A read is not shared with a caller that arrives after the read was sent.
func TestReadIsNotSharedWithACallerThatComesLater(t *testing.T) {
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

func TestCallersThatShareAReadDoNotShareItsData(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "data")
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.DelayReply(time.Second)})
		answers := make(chan []byte, 3)
		for range cap(answers) {
			go func() {
				data, _, _, err := c.GetW(t.Context(), "/n")
				assert.NoError(t, err)
				answers <- data
			}()
		}
		time.Sleep(2 * time.Second)
		require.Equal(t, 2, srv.CountRequests(zktest.OpGetData))
		for range cap(answers) {
			data := <-answers
			require.Equal(t, "data", string(data))
			clear(data)
		}
	})
}

// The caller that was to send the read for all of them goes first.
func TestCallerThatLeavesHoldsUpNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.DelayReply(time.Second)})
		var all sync.WaitGroup
		read := func(ctx context.Context, want error) {
			all.Go(func() {
				_, _, w, err := c.GetW(ctx, "/n")
				assert.ErrorIs(t, err, want)
				if err == nil {
					w.Stop()
				}
			})
		}
		read(t.Context(), nil)
		synctest.Wait()
		for range 3 { // wait for the first, and then for room
			read(within(t, 2*time.Second), context.DeadlineExceeded)
			synctest.Wait()
		}
		read(t.Context(), nil)
		wait := crowdConnection(t.Context(), c, srv, 3*time.Second)
		all.Wait()
		require.Equal(t, 2, srv.CountRequests(zktest.OpGetData))
		wait()
		synctest.Wait()
		srv.AssertNoWatches(t)
	})
}
