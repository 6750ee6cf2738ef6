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

// calls are the calls that take a context, by the name that their errors have.
// Leave is not among them: it is the call of one session.
var calls = map[string]func(ctx context.Context, c *framework.Client) error{
	"raise": func(ctx context.Context, c *framework.Client) error {
		_, err := barriers.NewBarrier(c, "/b").Raise(ctx)
		return err
	},
	"lower": func(ctx context.Context, c *framework.Client) error { return barriers.NewBarrier(c, "/b").Lower(ctx) },
	"raised": func(ctx context.Context, c *framework.Client) error {
		_, _, err := barriers.NewBarrier(c, "/b").Raised(ctx)
		return err
	},
	"wait": func(ctx context.Context, c *framework.Client) error { return barriers.NewBarrier(c, "/b").Wait(ctx) },
	"enter": func(ctx context.Context, c *framework.Client) error {
		_, err := barriers.NewDoubleBarrier(c, "/b", 1).Enter(ctx)
		return err
	},
}

// An outage lasts for longer than the client's connection timeout, and than its
// session. Every call goes on when it is over.
func TestEveryCallSurvivesAnOutage(t *testing.T) {
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, network := w.Connect(t)
				network.Refuse(true)
				network.Cut()
				time.AfterFunc(10*time.Minute, func() { network.Refuse(false) })
				require.NoError(t, call(w.Patience(t), c))
			})
		})
	}
}

// The reply to Lower is lost, and there is no connection until Lower gives up.
//
// Promise: A Lower that gives up returns ErrOutcomeUnknown if the barrier may have been lowered.
func TestLowerThatGivesUpInAnOutage(t *testing.T) {
	for name, patience := range map[string]time.Duration{"at once": time.Second, "later": 10 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				host := w.Fake.NewHost()
				c, err := framework.New(w.Addr, framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(w.Session))
				require.NoError(t, err)
				defer c.Close()
				b := barriers.NewBarrier(c, "/b")
				_, err = b.Raise(w.Patience(t))
				require.NoError(t, err)
				w.Fake.Inject(zktest.Rule{Op: zktest.OpDelete, Path: "/b", Do: zktest.All(
					zktest.CallAfter(func(zktest.Request) { host.Isolate() }), zktest.BlackholeReply())})
				err = b.Lower(recipetest.Within(t, patience))
				require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
				require.ErrorIs(t, err, context.DeadlineExceeded)
			})
		})
	}
}
