package locks_test

import (
	"context"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// exitingOnce is a log handler that ends the first goroutine that tells of a
// loss, and counts those that do.
type exitingOnce struct {
	slog.Handler
	armed  atomic.Bool
	losses atomic.Int32
}

func (e *exitingOnce) Enabled(context.Context, slog.Level) bool {
	if strings.Contains(string(debug.Stack()), "logLoss") {
		e.losses.Add(1)
		if e.armed.CompareAndSwap(true, false) {
			runtime.Goexit()
		}
	}
	return true
}

// A client holds several locks, and its session is lost. The log handler ends
// the goroutine that tells of the first loss. All losses are told.
func TestLogHandlerThatEndsTheGoroutineOfOneLoss(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		log := &exitingOnce{Handler: slog.DiscardHandler}
		c, network := w.Connect(t, framework.WithLogger(slog.New(log)))
		const n = 10
		leases := acquireMany(t, c, n)
		log.armed.Store(true)
		network.Refuse(true)
		network.Cut()
		<-leases[0].Context().Done()
		time.Sleep(time.Minute)
		require.False(t, log.armed.Load())
		told := log.losses.Load()
		for _, l := range leases {
			_ = l.Release(t.Context())
		}
		require.EqualValues(t, n, told)
	})
}
