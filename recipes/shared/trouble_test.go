package shared_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/recipetest"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/testing/zktest"
)

// An error that lasts is in the log once, also if an outage came before it.
func TestLogOfAnErrorThatLastsAfterAnOutage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var log recipetest.Log
		w.Fake.Stop()
		c, err := framework.New(w.Addr, framework.WithDialer(w.Dial), framework.WithSessionTimeout(w.Session),
			framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		require.NoError(t, err)
		defer c.Close()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/n", Times: -1, Do: zktest.Fail(zktest.ErrSystem)})
		n, err := shared.NewCount(c, "/n", 7)
		require.NoError(t, err)
		defer n.Close()
		time.Sleep(time.Minute)
		w.Fake.Restart()
		time.Sleep(time.Hour)
		require.Error(t, n.Synced(recipetest.Within(t, time.Second)))
		require.Equal(t, 1, strings.Count(log.String(), "shared value is tried again after an error"))
	})
}

// The look-up after a lost reply pauses between its requests, also if the
// client has no pauses of its own.
func TestLookUpPauses(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t, framework.WithRetry(retry.None()))
		n := w.count(t, c, "/n", 7)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.DropReply()})
		looks := w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, After: 1, Times: 5000, Do: zktest.Fail(zktest.ErrThrottled)})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, _, err := n.TrySet(ctx, get(t, n), 8)
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Greater(t, looks.Hits(), 2)
		require.Less(t, looks.Hits(), 20)
	})
}
