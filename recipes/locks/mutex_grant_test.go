package locks_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
)

// askedContext calls a function when it is asked for its error.
type askedContext struct {
	context.Context
	asked func()
}

func (c *askedContext) Err() error {
	c.asked()
	return c.Context.Err()
}

// Under state.StandardPolicy, an interruption between the grant and the lease makes
// the node one that nobody may have. The session lives, and so does the node: if
// it stayed, the acquire would wait for itself. The connection breaks each time at
// another one of the moments at which the acquire asks its context, of which one is
// behind the grant.
//
// Promise: A grant that arrives during an interruption leaves no node.
func TestInterruptionBehindTheGrantLeavesNoNode(t *testing.T) {
	const never = -1
	acquire := func(t *testing.T, w *world, at int) (asked int) {
		c, network := w.Connect(t, framework.WithErrorPolicy(state.StandardPolicy))
		breaks := func() {
			network.Refuse(true)
			network.Cut()
			for c.State().IsConnected() {
				time.Sleep(time.Millisecond)
			}
			time.AfterFunc(time.Second, func() { network.Refuse(false) })
		}
		ctx := &askedContext{w.Patience(t), func() {
			if asked++; asked == at {
				breaks()
			}
		}}
		lease, err := locks.NewInterProcessMutex(c, "/l").Acquire(ctx)
		require.NoError(t, err)
		require.NoError(t, lease.Context().Err())
		require.NoError(t, c.Sync(t.Context(), "/l"))
		w.WaitNodes(t, "/l", 1)
		require.NoError(t, lease.Release(t.Context()))
		w.NothingLeft(t, "/l")
		return asked
	}
	var moments int
	inVirtualTime(t, func(t *testing.T, w *world) { moments = acquire(t, w, never) })
	require.Positive(t, moments)
	for at := 1; at <= moments; at++ {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) { acquire(t, w, at) })
		})
	}
}
