package follow_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/testing/zktest"
)

// reader returns a function that reads a node, which is not there.
func reader(c *framework.Client) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		_, _, err := c.Get(ctx, "/missing")
		return err
	}
}

// A server is out of order for minutes, and then the network breaks.
func TestUntilItSucceeds(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, network := w.Connect(t)
		trouble := w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Times: -1, Do: zktest.Fail(zkinside.ErrSystem)})
		r := follow.Recovery{Client: c}
		returned := make(chan error, 1)
		go func() { returned <- r.Until(t.Context(), reader(c)) }()
		time.Sleep(10 * time.Minute)
		require.Less(t, trouble.Hits(), 1000)
		network.Refuse(true)
		network.Cut()
		time.Sleep(10 * time.Minute)
		trouble.Remove()
		require.NoError(t, w.Fake.Create("/missing", nil))
		require.Empty(t, returned)
		network.Refuse(false)
		time.Sleep(time.Minute)
		require.Len(t, returned, 1)
		require.NoError(t, <-returned)
	})
}

func TestUntilItCannotSucceed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, _ := w.Connect(t)
		missing := func(err error) bool { return errors.Is(err, zk.ErrNoNode) }
		r := follow.Recovery{Client: c, Ends: missing}
		require.ErrorIs(t, r.Until(t.Context(), reader(c)), zk.ErrNoNode)
		require.Equal(t, 1, w.Fake.CountRequests(zktest.OpGetData))
	})
}

// The caller gives up, and gets the last error. The error of a request that the client
// still repeats counts, too.
func TestUntilItsContextEnds(t *testing.T) {
	for name, answer := range map[string]zktest.Action{
		"answered": zktest.Fail(zkinside.ErrSystem), "repeated": zktest.Fail(zkinside.ErrThrottled),
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
				c, _ := w.Connect(t)
				w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Times: -1, Do: answer})
				r := follow.Recovery{Client: c}
				err := r.Until(recipetest.Within(t, time.Second), reader(c))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				_, answered := framework.ServerCode(err)
				require.True(t, answered, "%v", err)
			})
		})
	}
}

// It does not wait for the end of a pause when the client is closed.
func TestUntilTheClientIsClosed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, _ := w.Connect(t)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Times: -1, Do: zktest.Fail(zkinside.ErrSystem)})
		r := follow.Recovery{Client: c}
		returned := make(chan error, 1)
		go func() { returned <- r.Until(t.Context(), reader(c)) }()
		time.Sleep(10 * time.Minute)
		require.NoError(t, c.Close())
		synctest.Wait()
		require.Len(t, returned, 1)
		require.ErrorIs(t, <-returned, framework.ErrClosed)
	})
}
