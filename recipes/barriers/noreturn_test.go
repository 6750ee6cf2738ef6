package barriers_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// Every call of the user's code on the goroutine of a caller does not return in
// turn.
func TestCallThatDoesNotReturnLeavesNoMember(t *testing.T) {
	for name, use := range map[string]func(ctx context.Context, c *framework.Client) error{
		"gate": func(ctx context.Context, c *framework.Client) error {
			b := barriers.NewBarrier(c, "/b")
			defer b.Lower(ctx)
			if _, err := b.Raise(ctx); err != nil {
				return err
			}
			if _, _, err := b.Raised(ctx); err != nil {
				return err
			}
			if err := b.Lower(ctx); err != nil {
				return err
			}
			return b.Wait(ctx)
		},
		"rendezvous": enterAndLeave(),
		"Curator's":  enterAndLeave(barriers.WithCuratorLayout()),
	} {
		t.Run(name, func(t *testing.T) {
			locktest.NoReturn(t, func(_ *testing.T, ctx context.Context, c *framework.Client) error { return use(ctx, c) },
				"/d/ready") // of Curator's layout: the others may have entered by then
		})
	}
}

func enterAndLeave(opts ...barriers.Option) func(ctx context.Context, c *framework.Client) error {
	return func(ctx context.Context, c *framework.Client) error {
		p, err := barriers.NewDoubleBarrier(c, "/d", 1, opts...).Enter(ctx)
		if err != nil {
			return err
		}
		return p.Leave(ctx)
	}
}

// connectExiting returns a client whose retry policy ends the goroutines that
// ask it next, as many as exits says.
func (w *world) connectExiting(t *testing.T) (c *framework.Client, exits *atomic.Int32) {
	exits = &atomic.Int32{}
	c, _ = w.Connect(t, framework.WithRetry(func() backoff.BackOff {
		if exits.Add(-1) >= 0 {
			runtime.Goexit()
		}
		return backoff.NewConstantBackOff(time.Second)
	}))
	return c, exits
}

// The user's code ends goroutines that read the marks of members that are inside,
// more of them than read at a time. The round does not end without those members.
func TestMemberWhoseMarkIsNotReadHasNotLeft(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, exits := w.connectExiting(t)
		const others = 40
		p := w.enterAll(t, "/b", slices.Concat([]*framework.Client{c}, slices.Repeat([]*framework.Client{w.Observer}, others)))
		settle()
		exits.Store(others)
		reads := w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/b/*", Session: c.SessionID(), Times: -1, Do: zktest.DropReply()})
		require.ErrorContains(t, p[0].Leave(w.Patience(t)), "has ended its goroutine")
		reads.Remove()
		require.Less(t, exits.Swap(0), int32(others))
		time.Sleep(time.Minute)
		require.Len(t, w.Fake.Children("/b"), others)
		w.leaveAll(t, p[1:])
		w.NothingLeft(t, "/b")
	})
}

// The user's code ends the goroutine of a member that has told the others by a
// node of its own that it resigns. The node is withdrawn, and the error of
// Leave says that the member has given up.
func TestResignationThatTheUsersCodeEndsIsWithdrawn(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, exits := w.connectExiting(t)
		p := w.enterAll(t, "/b", []*framework.Client{c, w.Observer})
		settle()
		beaten := w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Session: c.SessionID(), Do: zktest.Fail(zktest.ErrBadVersion)})
		told := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/b/left-*", Do: zktest.All(
			zktest.Call(func(zktest.Request) {
				exits.Store(1)
				w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Session: c.SessionID(), Do: zktest.DropRequest()}) // ahead of the look
			}), zktest.DropReply())})
		err := p[0].Leave(recipetest.Within(t, time.Second))
		time.Sleep(time.Second)
		require.Equal(t, []int{1, 1}, []int{beaten.Hits(), told.Hits()})
		require.LessOrEqual(t, exits.Load(), int32(0))
		for _, name := range w.Fake.Children("/b") {
			require.False(t, strings.HasPrefix(name, "left-"), name)
		}
		require.ErrorContains(t, err, "has ended its goroutine")
		require.ErrorIs(t, err, barriers.ErrNotLeft)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		w.leaveAll(t, p[1:])
		w.NothingLeft(t, "/b")
	})
}
