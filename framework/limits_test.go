package framework_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/testing/zktest"
)

// A server that is slow makes callers wait, each as long as its own context
// allows; what is sent stays bounded.
func TestCallersWaitWhenTooMuchIsUnderWay(t *testing.T) {
	thorough.MuchWork(t)
	t.Parallel()
	callers := thorough.Size(20_000, 4_000) // more than may be under way at once
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		slow := srv.Inject(zktest.Rule{Op: zktest.OpGetData, Times: 1, Do: zktest.DelayRequest(3 * time.Second)})
		defer slow.Remove()
		var all sync.WaitGroup
		var late, done atomic.Int64
		for i := range callers {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i%4)*time.Second)
				defer cancel()
				switch _, _, err := c.Get(ctx, "/"); {
				case err == nil:
					done.Add(1)
				case errors.Is(err, context.DeadlineExceeded):
					late.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		begin := time.Now()
		all.Wait()
		require.LessOrEqual(t, time.Since(begin), 4*time.Second, "nobody outlasts its context")
		synctest.Wait()
		require.Positive(t, done.Load())
		require.GreaterOrEqual(t, late.Load(), int64(callers/2))
		require.NoError(t, c.Sync(t.Context(), "/"))
	})
}

// A server stops reading, pings too, when a thousand requests are not answered.
// One client must not bring it there.
func TestServerHasLessUnderWayThanWouldStopItFromReading(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.DelayReply(time.Second)})
		var all sync.WaitGroup
		for range 3000 {
			all.Go(func() {
				if _, _, err := c.Get(t.Context(), "/"); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		atOnce := srv.CountRequests(zktest.OpGetData)
		require.Less(t, atOnce, 1000-200)
		require.Greater(t, atOnce, 500, "enough to keep it busy")
		all.Wait()
	})
}

func TestMaxRequestSizeCanBeRaised(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithMaxRequestSize(2<<10))
		mustCreate(t, c, "/n", "")
		_, err := c.Set(t.Context(), "/n", make([]byte, 1900), framework.AnyVersion)
		require.NoError(t, err)
		_, err = c.Set(t.Context(), "/n", make([]byte, 2<<10), framework.AnyVersion)
		require.Error(t, err)
	})
	_, err := framework.New("host", framework.WithMaxRequestSize(0))
	var invalid *framework.ConfigError
	require.ErrorAs(t, err, &invalid)
}
