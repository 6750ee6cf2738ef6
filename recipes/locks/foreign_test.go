package locks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

// A client that may create nodes below a lock's path may write a megabyte into
// each of them.
func TestParticipantsKeepLittleOfWhatOthersHaveWritten(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const nodes = 20
		for i := range nodes {
			data := fmt.Appendf(nil, "%d %s", i, strings.Repeat("x", 1_000_000))
			require.NoError(t, w.Fake.Create(fmt.Sprintf("/l/lock-%010d", i), data))
		}
		list, err := locks.NewInterProcessMutex(w.Observer, "/l").Participants(t.Context())
		require.NoError(t, err)
		require.Len(t, list, nodes)
		for i, p := range list {
			require.Len(t, p.Data, 4<<10)
			require.LessOrEqual(t, cap(p.Data), 5<<10, "the rest is garbage")
			require.True(t, strings.HasPrefix(p.Identity().Foreign, fmt.Sprint(i, " xxx")))
		}
		_, err = locks.NewInterProcessMutex(w.Observer, "/l").TryAcquire(t.Context())
		var refused *locks.NotAcquiredError
		require.ErrorAs(t, err, &refused)
		require.True(t, strings.HasPrefix(refused.Identity().Foreign, "0 xxx"))
	})
}

func TestTracerGetsNamesOfForeignNodesThatCanBePrinted(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		tracer := &recipetest.Neighbours{}
		c, _ := w.Connect(t, framework.WithTracer(tracer))
		forged := "_c_\u202egnp.\u2028-lock-0000000000"
		data := `{"v":1,"host":"web","trace":{"traceparent":"\u202e","b3":"1","\u0000":"x"}}`
		require.NoError(t, w.Fake.Create("/l/"+forged, []byte(data)))
		require.NoError(t, w.Fake.SetSequence("/l", 1))
		waiting := recipetest.AcquireLater(t.Context(), locks.NewInterProcessMutex(c, "/l"))
		w.WaitNodes(t, "/l", 2)
		require.Eventually(t, func() bool {
			return len(tracer.Seen()) > 0
		}, w.Session, w.Session/100)
		require.NoError(t, w.Fake.Delete("/l/"+forged))
		require.NoError(t, waiting.Wait(t).Release(t.Context()))
		seen := tracer.Seen()[0].Ahead
		require.Equal(t, `"_c_\u202egnp.\u2028-lock-0000000000"`, seen.Node)
		require.Equal(t, map[string]string{"b3": "1"}, locks.ReadIdentity(seen.Data).Trace)
	})
}
