package recipes_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
)

// Whoever may create nodes below a lock's path may write a megabyte into each.
func TestParticipantsKeepLittleOfWhatOthersHaveWritten(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const nodes = 20
		for i := range nodes {
			data := fmt.Appendf(nil, "%d %s", i, strings.Repeat("x", 1_000_000))
			require.NoError(t, w.fake.Create(fmt.Sprintf("/l/lock-%010d", i), data))
		}
		list, err := recipes.NewInterProcessMutex(w.observer, "/l").Participants(t.Context())
		require.NoError(t, err)
		require.Len(t, list, nodes)
		for i, p := range list {
			require.Len(t, p.Data, 4<<10)
			require.LessOrEqual(t, cap(p.Data), 5<<10, "the rest is garbage")
			require.True(t, strings.HasPrefix(p.Identity.Foreign, fmt.Sprint(i, " xxx")))
		}
		_, err = recipes.NewInterProcessMutex(w.observer, "/l").TryAcquire(t.Context())
		var refused *recipes.NotAcquiredError
		require.ErrorAs(t, err, &refused)
		require.True(t, strings.HasPrefix(refused.Identity.Foreign, "0 xxx"))
	})
}

// others is a tracer that remembers whom it was told of.
type others struct {
	valve
	mu   sync.Mutex
	seen []recipes.Waiting
}

func (o *others) StartAcquire(ctx context.Context, _ recipes.Acquire) (context.Context, recipes.AcquireTracer) {
	return ctx, othersAcquire{valveOnAcquire{&o.valve}, o}
}

type othersAcquire struct {
	valveOnAcquire
	of *others
}

func (o othersAcquire) Waiting(w recipes.Waiting) {
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	o.of.seen = append(o.of.seen, w)
}

func TestTracerGetsNamesOfForeignNodesThatCanBePrinted(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		tracer := &others{}
		c, _ := w.connect(t, framework.WithTracer(tracer))
		forged := "_c_\u202egnp.\u2028-lock-0000000000"
		data := `{"v":1,"host":"web","trace":{"traceparent":"\u202e","b3":"1","\u0000":"x"}}`
		require.NoError(t, w.fake.Create("/l/"+forged, []byte(data)))
		require.NoError(t, w.fake.SetSequence("/l", 1))
		waiting := acquireLater(t.Context(), recipes.NewInterProcessMutex(c, "/l"))
		w.waitNodes(t, "/l", 2)
		require.Eventually(t, func() bool {
			tracer.mu.Lock()
			defer tracer.mu.Unlock()
			return len(tracer.seen) > 0
		}, w.session, w.session/100)
		require.NoError(t, w.fake.Delete("/l/"+forged))
		require.NoError(t, waiting.wait(t).Release(t.Context()))
		seen := tracer.seen[0].Ahead
		require.Equal(t, `"_c_\u202egnp.\u2028-lock-0000000000"`, seen.Node)
		require.Equal(t, map[string]string{"b3": "1"}, seen.Identity.Trace)
	})
}
