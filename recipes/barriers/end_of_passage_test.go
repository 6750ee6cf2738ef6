package barriers_test

import (
	"bytes"
	"context"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
)

type exitingLog struct {
	slog.Handler
	armed atomic.Bool
	ended atomic.Int32
}

func (e *exitingLog) Enabled(context.Context, slog.Level) bool {
	if e.armed.Load() {
		e.ended.Add(1)
		runtime.Goexit()
	}
	return false
}

// The log handler ends the goroutine of a member that tells of its end. The
// passage ends all the same.
func TestLogHandlerThatEndsTheGoroutineOfAMember(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		log := &exitingLog{Handler: slog.DiscardHandler}
		c, _ := w.Connect(t, framework.WithLogger(slog.New(log)))
		p := w.enterAll(t, "/b", []*framework.Client{c})[0]
		settle()
		log.armed.Store(true)
		require.NoError(t, w.Fake.Delete("/b/"+p.Name()))
		time.Sleep(time.Minute)
		require.NotZero(t, log.ended.Load())
		log.armed.Store(false)
		require.Error(t, p.Context().Err())
		require.NotErrorIs(t, p.Leave(recipetest.Within(t, time.Minute)), context.DeadlineExceeded)
	})
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// The client tells of its own end, and of the loss of its session. Its passages
// add nothing to that.
func TestEndOfAClientIsNoLineOfItsPassages(t *testing.T) {
	for _, what := range []string{"close", "loss"} {
		lines := 0
		for range 20 {
			inVirtualTime(t, func(t *testing.T, w *world) {
				log := &lockedBuffer{}
				c, network := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))))
				w.enterAll(t, "/b", []*framework.Client{c})
				settle()
				if what == "close" {
					c.Close()
				} else {
					network.Refuse(true)
					network.Cut()
					time.Sleep(time.Minute)
				}
				settle()
				log.mu.Lock()
				defer log.mu.Unlock()
				if strings.Contains(log.b.String(), "passage of a double barrier ends") {
					lines++
				}
			})
		}
		require.Zero(t, lines, what)
	}
}
