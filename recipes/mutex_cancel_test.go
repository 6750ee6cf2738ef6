package recipes_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zktest"
)

// An acquire whose context ends at any of its requests, however the request fares, returns at that moment and leaves no
// node, no watch and no goroutine (the bubble looks for those), and the queue moves on.
func TestCancelAtEveryAwaitPoint(t *testing.T) {
	const patience = 100 * time.Millisecond
	fates := map[string]zktest.Action{
		"not answered in time":    zktest.DelayReply(time.Second),
		"not processed in time":   zktest.DelayRequest(time.Second),
		"request lost for good":   zktest.Mute,
		"reply lost for good":     zktest.MuteReply,
		"request lost, then late": zktest.DropRequest,
		"reply lost, then late":   zktest.DropReply,
	}
	// The requests of an acquire that has to make its parent, and of one that finds the lock held.
	firstEver := []zktest.Op{zktest.OpCreate, zktest.OpExists, zktest.OpCreateContainer, zktest.OpCreate, zktest.OpGetChildren2}
	contended := []zktest.Op{zktest.OpCreate, zktest.OpGetChildren2, zktest.OpGetData}

	for name, fate := range fates {
		for i := range firstEver {
			t.Run(fmt.Sprintf("%s/first ever/%d", name, i), func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					w.cancelAt(t, i, fate, patience)
					w.nothingLeft(t, "/l")
					require.NoError(t, acquire(t, t.Context(), recipes.NewInterProcessMutex(w.observer, "/l")).Release(t.Context()))
				})
			})
		}
		for i := range contended {
			t.Run(fmt.Sprintf("%s/contended/%d", name, i), func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					m := recipes.NewInterProcessMutex(w.observer, "/l")
					holder := acquire(t, t.Context(), m)
					next := acquireLater(t.Context(), m)
					w.waitNodes(t, "/l", 2)
					w.cancelAt(t, i, fate, patience)
					w.waitNodes(t, "/l", 2)
					require.NoError(t, holder.Release(t.Context()))
					require.NoError(t, next.wait(t).Release(t.Context()))
					w.nothingLeft(t, "/l")
				})
			})
		}
	}
}

// cancelAt lets a client's acquire of /l run into a fault at its i-th request, with little patience, and waits until the
// client has had time to clean up.
func (w *world) cancelAt(t *testing.T, i int, fate zktest.Action, patience time.Duration) {
	t.Helper()
	c, _ := w.connect(t)
	fault := w.fake.Inject(zktest.Rule{Session: c.SessionID(), After: i, Do: fate})
	// A broken connection must not come back before the context ends.
	w.fake.Inject(zktest.Rule{Op: zktest.OpConnect, Session: c.SessionID(), Times: -1, Do: zktest.DelayRequest(2 * patience)})

	start := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := recipes.NewInterProcessMutex(c, "/l").Acquire(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, patience, time.Since(start))
	require.Equal(t, 1, fault.Hits(), "there is such a request")
	<-time.After(time.Minute)
}

// The context ends while the grant is on its way. Whichever wins, nobody holds the lock without knowing.
func TestGrantThatComesWithTheCancellation(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.connect(t)
		m := recipes.NewInterProcessMutex(c, "/l")
		granted := 0
		for range 100 {
			ctx, cancel := context.WithCancel(t.Context())
			w.fake.Inject(zktest.Rule{Op: zktest.OpGetChildren, Do: zktest.CallAfter(func(zktest.Request) { cancel() })})
			lease, err := m.Acquire(ctx)
			if err == nil {
				granted++
				require.NoError(t, lease.Context().Err())
				require.NoError(t, lease.Release(t.Context()))
			} else {
				require.ErrorIs(t, err, context.Canceled)
			}
			w.nothingLeft(t, "/l")
		}
		t.Log("granted", granted, "times of 100")
	})
}
