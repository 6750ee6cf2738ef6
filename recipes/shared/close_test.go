package shared_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/shared"
)

// Calls that wait for the server return when their Value is closed. A write
// that was sent is of unknown outcome.
func TestCallsReturnWhenTheirValueIsClosed(t *testing.T) {
	for name, test := range map[string]struct {
		call   func(ctx context.Context, n *shared.Count) error
		writes bool
	}{
		"Set": {func(ctx context.Context, n *shared.Count) error { return n.Set(ctx, 8) }, true},
		"TrySet": {func(ctx context.Context, n *shared.Count) error {
			now, _ := n.Get()
			_, _, err := n.TrySet(ctx, now, 8)
			return err
		}, true},
		"Refresh": {func(ctx context.Context, n *shared.Count) error {
			_, err := n.Refresh(ctx)
			return err
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				n := w.count(t, c, "/n", 7)
				zkinside.Of(w.Fake).PauseSession(c.SessionID())
				returned := make(chan error, 1)
				go func() { returned <- test.call(t.Context(), n) }()
				settle()
				require.Empty(t, returned)
				require.NoError(t, n.Close())
				require.EqualError(t, n.Err(), "shared value /n: shared value is closed", "it names no call: there was none")
				require.EqualError(t, n.Set(t.Context(), 1), "set /n: shared value is closed")
				settle()
				require.Len(t, returned, 1)
				err := <-returned
				require.True(t, reason.Is(err, shared.ErrClosed), "%v: it is not the error of the caller's context", err)
				if test.writes {
					require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
				}
			})
		})
	}
}
