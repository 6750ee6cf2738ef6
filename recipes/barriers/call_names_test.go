package barriers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// Somebody lowers the barrier that a Raise has raised, and somebody else raises
// it, before Raise looks. The error has the name of the call.
func TestRaiseThatFindsAnotherOneNamesTheCall(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/b", Session: c.SessionID(), Do: zktest.DelayRequest(time.Second)})
		time.AfterFunc(time.Second/2, func() {
			_ = w.Fake.Delete("/b")
			_, err := w.Observer.Create(t.Context(), "/b", nil, framework.WithMode(framework.Ephemeral))
			if err != nil {
				t.Error(err)
			}
		})
		_, err := barriers.NewBarrier(c, "/b").Raise(w.Patience(t), barriers.WithSession())
		require.ErrorIs(t, err, barriers.ErrRaised)
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.True(t, strings.HasPrefix(err.Error(), "raise /b: "), err)
	})
}
