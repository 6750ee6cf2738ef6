package certmagic_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// certmagic creates a new account when a Load matches fs.ErrNotExist. A context may end
// with any error as its cause, even the error of another call. The error of Load tells
// the cause, but does not match it: the cause is no answer of a server.
func TestCauseOfTheCallersContextIsNoAnswer(t *testing.T) {
	for name, after := range map[string]time.Duration{"before the call": 0, "during a request": time.Second} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, _ *process) {
				require.NoError(t, a.Store(bounded(t), certKey, nil))
				srv.Inject(zktest.Rule{Session: a.client.SessionID(), Times: -1, Do: zktest.DelayRequest(2 * after)})
				for method, call := range map[string]func(ctx context.Context) error{
					"Load":   func(ctx context.Context) error { _, err := a.Load(ctx, certKey); return err },
					"Stat":   func(ctx context.Context) error { _, err := a.Stat(ctx, certKey); return err },
					"List":   func(ctx context.Context) error { _, err := a.List(ctx, "", true); return err },
					"Delete": func(ctx context.Context) error { return a.Delete(ctx, certKey) },
				} {
					ctx, cancel := context.WithCancelCause(bounded(t))
					end := func() { cancel(errors.Join(fs.ErrNotExist, errors.New("cause"))) }
					if after == 0 {
						end()
					}
					time.AfterFunc(after, end)
					err := call(ctx)
					require.ErrorIs(t, err, context.Canceled, method)
					require.NotErrorIs(t, err, fs.ErrNotExist, method)
					require.ErrorContains(t, err, "cause", method)
				}
			})
		})
	}
}
