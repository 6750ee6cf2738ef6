package barriers_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

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
