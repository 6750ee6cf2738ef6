package barriers_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/barriers"
)

// lookingLog is a log handler that looks whether a passage's work goes on when it
// is asked for the level of a warning.
type lookingLog struct {
	slog.Handler
	of    atomic.Pointer[barriers.Passage]
	asked atomic.Int32
	early atomic.Int32 // how often the work went on
}

func (l *lookingLog) Enabled(_ context.Context, level slog.Level) bool {
	if p := l.of.Load(); p != nil && level == slog.LevelWarn {
		l.asked.Add(1)
		if p.Context().Err() == nil {
			l.early.Add(1)
		}
	}
	return true
}

// The work hears of the loss of a member, and of the end of the passage, before
// the log does.
func TestWorkEndsBeforeTheLogIsAsked(t *testing.T) {
	for name, victim := range map[string]int{"another member": 1, "this member": 0} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				log := &lookingLog{Handler: slog.DiscardHandler}
				c, _ := w.Connect(t, framework.WithLogger(slog.New(log)))
				p := w.enterAll(t, "/b", []*framework.Client{c, w.Observer})
				settle()
				log.of.Store(p[0])
				require.NoError(t, w.Fake.Delete("/b/"+p[victim].Name()))
				<-p[0].Context().Done()
				time.Sleep(time.Minute)
				log.of.Store(nil)
				require.Equal(t, []int32{1, 0}, []int32{log.asked.Load(), log.early.Load()})
				for _, passage := range p {
					passage.Leave(w.Patience(t))
				}
			})
		})
	}
}
