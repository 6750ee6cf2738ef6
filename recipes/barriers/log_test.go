package barriers_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
)

// The log has a line for each barrier that is raised or lowered, for each
// opening, for each member that is lost, or whose node is deleted while it
// waits, and for each passage that ends before Leave.
func TestLogOfBarriers(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var log recipetest.Log
		c, _ := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		other, _ := w.Connect(t)
		view, err := c.Namespace("/ns")
		require.NoError(t, err)
		b := barriers.NewBarrier(view, "/gate")
		_, err = b.Raise(t.Context())
		require.NoError(t, err)
		require.NoError(t, b.Lower(t.Context()))
		waits := enterLater(recipetest.Within(t, 3*time.Second), barriers.NewDoubleBarrier(view, "/alone", 2))
		time.Sleep(2 * time.Second) // it watches its node by now
		waiting := "/ns/alone/" + w.Fake.Children("/ns/alone")[0]
		require.NoError(t, w.Fake.Delete(waiting))
		<-waits.done
		passages := w.enterAll(t, "/ns/b", []*framework.Client{other, c})
		other.Close()
		<-passages[1].Context().Done()
		settle() // the line follows the end of the context
		require.NoError(t, w.Fake.Delete("/ns/b/"+passages[1].Name()))
		inside, err := barriers.NewDoubleBarrier(view, "/c", 1).Enter(t.Context())
		require.NoError(t, err)
		settle()
		require.NoError(t, w.Fake.Delete("/ns/c/"+inside.Name()))
		<-inside.Context().Done()
		settle()
		var lines []string
		for line := range strings.Lines(log.String()) {
			if _, text, ours := strings.Cut(line, " msg="); ours && strings.Contains(text, "barrier") {
				lines = append(lines, text)
			}
		}
		require.Len(t, lines, 7)
		for i, want := range []string{
			`"barrier raised" curator.znode.path=/ns/gate curator.session.id=0x`,
			`"barrier lowered" curator.znode.path=/ns/gate`,
			`"member of a double barrier was deleted while it waited, and enters again" curator.znode.path=` + waiting + ` curator.session.id=0x`,
			`"double barrier opened" curator.znode.path=/ns/b`,
			`"member of a double barrier lost" curator.znode.path=/ns/b curator.cause="/ns/b: a member of the barrier was lost: m-`,
			`"double barrier opened" curator.znode.path=/ns/c`,
			`"passage of a double barrier ends" curator.znode.path=/ns/c/` + inside.Name() + ` curator.cause="the member's node was deleted"`,
		} {
			require.Contains(t, lines[i], want)
		}
	})
}

// A tracer that blocks holds up neither the members nor the end of the client
// for more than a few seconds.
func TestTracerThatBlocks(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		tracer := &locktest.Valve{}
		c, _ := w.Connect(t, framework.WithHooks(tracer))
		other, _ := w.Connect(t)
		passages := w.enterAll(t, "/b", []*framework.Client{c, other})
		settle()
		require.Positive(t, tracer.Operations.Load())
		open := tracer.Close()
		defer open()
		var left []*leaving
		for _, p := range passages {
			left = append(left, leaveLater(recipetest.Within(t, 5*time.Second), p))
		}
		for _, l := range left {
			<-l.done
			require.NoError(t, l.err)
		}
		begun := time.Now()
		require.NoError(t, c.Close())
		require.Less(t, time.Since(begun), 3*time.Second)
	})
}
