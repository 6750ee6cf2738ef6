package barriers_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// failingWait is a kind of wait, and the request that the server fails.
type failingWait struct {
	op zktest.Op

	// call begins the trouble, and waits for what does not come.
	call func(ctx context.Context, t *testing.T, w *world, c *framework.Client, begin func()) error

	// disturb makes the wait look again, for trouble that begins later. It is
	// nil for trouble from the beginning.
	disturb func(t *testing.T, w *world)
}

var failingWaits = map[string]failingWait{
	"Wait that has not looked":       {op: zktest.OpSync, call: waitInFrontOf},
	"Wait that has seen the barrier": {op: zktest.OpGetData, call: waitInFrontOf, disturb: changeData},
	"Enter without a node":           {op: zktest.OpCreate, call: enterAlone()},
	"Enter":                          {op: zktest.OpExists, call: enterAlone(), disturb: waitForLook},
	"Leave":                          {op: zktest.OpGetChildren, call: leaveAlone(0)},
}

func waitInFrontOf(ctx context.Context, t *testing.T, w *world, c *framework.Client, begin func()) error {
	if _, err := barriers.NewBarrier(w.Observer, "/b").Raise(t.Context()); err != nil {
		return err
	}
	begin()
	return barriers.NewBarrier(c, "/b").Wait(ctx)
}

// enterAlone enters a barrier for two.
func enterAlone() func(context.Context, *testing.T, *world, *framework.Client, func()) error {
	return func(ctx context.Context, _ *testing.T, _ *world, c *framework.Client, begin func()) error {
		begin()
		_, err := barriers.NewDoubleBarrier(c, "/b", 2).Enter(ctx)
		return err
	}
}

// leaveAlone leaves a barrier, as the first or the second member by order, while
// the other one stays.
func leaveAlone(place int) func(context.Context, *testing.T, *world, *framework.Client, func()) error {
	return func(ctx context.Context, t *testing.T, w *world, c *framework.Client, begin func()) error {
		clients := []*framework.Client{w.Observer, w.Observer}
		clients[place] = c
		passages := w.enterAll(t, "/b", clients)
		settle()
		begin()
		return passages[place].Leave(ctx)
	}
}

func changeData(t *testing.T, w *world) { require.NoError(t, w.Fake.Set("/b", nil)) }

// waitForLook is for a member that looks at its own node after a second.
func waitForLook(*testing.T, *world) {}

const throttled = zktest.Code(-127)

// whileFailing waits for a minute, while the server fails for some time, and returns
// the error of the wait.
func (kind failingWait) whileFailing(t *testing.T, w *world, lasts time.Duration) error {
	c, _ := w.Connect(t)
	rules := make(chan *zktest.Injection, 1)
	begin := func() {
		rule := w.Fake.Inject(zktest.Rule{Optional: true, Op: kind.op, Session: c.SessionID(), Times: -1, Do: zktest.Fail(throttled)})
		if kind.disturb != nil {
			kind.disturb(t, w)
		}
		time.AfterFunc(lasts, rule.Remove)
		rules <- rule
	}
	now := begin
	if kind.disturb != nil {
		now = func() { time.AfterFunc(time.Second/2, begin) }
	}
	err := kind.call(recipetest.Within(t, time.Minute), t, w, c, now)
	require.Positive(t, (<-rules).Hits())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	return err
}

// A server fails for as long as a wait lasts. The error of the wait names the server's
// error.
func TestWaitsNameTheLastError(t *testing.T) {
	for name, kind := range failingWaits {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				err := kind.whileFailing(t, w, time.Hour)
				code, ok := framework.ServerCode(err)
				require.True(t, ok, "%v", err)
				require.EqualValues(t, throttled, code)
			})
		})
	}
}

// A server has failed before it has raised the barrier, or after. Raise finds
// out by doing it again. If the server fails at a look, Raise says so.
//
// Promise: A Raise whose reply was lost is repeated.
func TestRaiseWhoseOutcomeIsUnknownIsRepeated(t *testing.T) {
	const systemError = zktest.Code(-1)
	for _, mode := range [][]barriers.RaiseOption{nil, {barriers.WithSession()}} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			c, _ := w.Connect(t)
			b := barriers.NewBarrier(c, "/b")
			failed := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.Fail(systemError)})
			raised, err := b.Raise(w.Patience(t), mode...)
			require.NoError(t, err)
			require.Equal(t, 1, failed.Hits())
			seen, up, err := b.Raised(t.Context())
			require.NoError(t, err)
			require.True(t, up)
			require.Equal(t, raised, seen)

			w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.Fail(systemError)})
			_, err = b.Raise(w.Patience(t), mode...)
			code, ok := framework.ServerCode(err)
			require.True(t, ok, "%v", err)
			require.EqualValues(t, systemError, code)
		})
	}
}
