package shared_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
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
		require.Error(t, n.WaitSynced(recipetest.Within(t, time.Second)))
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

// Servers refuse the client's credentials for an hour. A Value keeps what it
// has, and goes on as soon as a server takes them.
func TestValueOutlastsRefusedCredentials(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var log recipetest.Log
		c, _ := w.Connect(t, framework.WithAuth("digest", []byte("me:secret")), framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		known := w.count(t, c, "/n", 7)
		refusal := w.Fake.Inject(zktest.Rule{Op: zktest.OpAuth, Times: -1, Do: zktest.Fail(zktest.ErrAuthFailed)})
		w.Fake.Session(c.SessionID()).Expire()
		time.Sleep(time.Hour)
		unknown, err := shared.NewCount(c, "/other", 9)
		require.NoError(t, err)
		defer unknown.Close()
		require.ErrorIs(t, unknown.WaitSynced(recipetest.Within(t, time.Minute)), zk.ErrAuthFailed)
		require.Equal(t, int32(7), get(t, known).Value)
		require.NoError(t, known.Err())

		refusal.Remove()
		require.NoError(t, w.Fake.Set("/n", bytesOf(8)))
		for s := range c.States(w.Patience(t)) {
			if s.IsConnected() {
				break
			}
		}
		synctest.Wait()
		require.Equal(t, int32(8), get(t, known).Value)
		require.Equal(t, int32(9), get(t, unknown).Value)
		require.Equal(t, 2, strings.Count(log.String(), "shared value is tried again after an error"), "once for each")
	})
}

// Trouble is over when the node was read: the pauses are short again, and the log
// has the next one.
func TestReadEndsTheTroubleBefore(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var log recipetest.Log
		c, _ := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		require.NoError(t, w.Fake.Create("/n", bytesOf(7)))
		fails := func(times int) {
			w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Op: zktest.OpGetData, Path: "/n", Times: times, Do: zktest.Fail(zktest.ErrSystem)})
		}
		fails(8)
		n := w.count(t, c, "/n", 7)
		settle()
		fails(1)
		require.NoError(t, w.Fake.Set("/n", bytesOf(8)))
		begun := time.Now()
		w.await(t, n, 8)
		require.Less(t, time.Since(begun), 2*time.Second)
		require.Equal(t, 2, strings.Count(log.String(), "shared value is tried again after an error"))
	})
}
