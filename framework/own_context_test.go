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
	"github.com/gocurator/curator/testing/zktest"
)

// shutdown is a context of the user's own making, with an error of its own.
type shutdown struct{ context.Context }

var errShutdown = errors.New("shutting down")

func (c shutdown) Err() error {
	if c.Context.Err() != nil {
		return errShutdown
	}
	return nil
}

// broken is a context of the user's own making, which panics when it is asked for
// its error for the nth time.
type broken struct {
	context.Context
	asked *atomic.Int32
	nth   int32
}

func (c broken) Err() error {
	if c.asked.Add(1) == c.nth {
		panic("context")
	}
	return c.Context.Err()
}

// The panic is the caller's own. Others that want to read the node are not kept
// waiting, and no watch is left when they stop.
func TestContextThatPanicsInASharedRead(t *testing.T) {
	for nth := range int32(8) {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			mustCreate(t, c, "/n", "")
			srv.Inject(zktest.Rule{Op: zktest.OpGetData, Times: 3, Do: zktest.DelayReply(time.Second)})
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					_, _, w, err := c.GetW(within(t, time.Minute), "/n")
					require.NoError(t, err, "panic at %d", nth)
					w.Stop()
				})
				all.Go(func() {
					defer func() { _ = recover() }()
					_, _, w, err := c.GetW(broken{within(t, time.Minute), new(atomic.Int32), nth}, "/n")
					require.NoError(t, err)
					w.Stop()
				})
				synctest.Wait()
			}
			all.Wait()
			synctest.Wait()
			srv.AssertNoWatches(t)
		})
	}
}

// A create that is given up hands over to the one who gets the answer. The
// client must know that whatever error the context has: else both of them end
// the node's reservation, and the process panics.
func TestCreateIsGivenUpUnderAContextOfTheUsersOwnMaking(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		late := srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.DelayReply(2 * time.Second)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Create(shutdown{ctx}, "/n", nil, framework.WithMode(framework.Ephemeral))
		require.ErrorIs(t, err, errShutdown)
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		time.Sleep(time.Minute)
		require.Equal(t, 1, late.Hits())

		_, err = c.Create(t.Context(), "/n", nil, framework.WithMode(framework.Ephemeral))
		require.Error(t, err, "the node is there, and can be created again after a delete")
		require.NoError(t, c.Delete(t.Context(), "/n", framework.AnyVersion))
		mustCreate(t, c, "/n", "", framework.WithMode(framework.Ephemeral))
	})
}
