package shared_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"
)

// Servers hang up on the value, as they do on what is longer than their
// jute.maxbuffer. Each attempt interrupts all other requests of the client, so the
// call ends with the first one that says so.
func TestValueThatMakesServersHangUpIsAnError(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		v, err := shared.NewValue(c, "/value", codec.JSON[string](), "")
		require.NoError(t, err)
		defer v.Close()
		require.NoError(t, v.WaitSynced(w.Patience(t)))
		for _, op := range []zktest.Op{zktest.OpSetData, zktest.OpMulti} {
			w.Fake.Inject(zktest.Rule{Optional: true, Op: op, Times: -1, Path: "/value", Do: zktest.DropRequest()})
		}
		err = v.Set(recipetest.Within(t, time.Hour), strings.Repeat("x", 120_000))
		require.ErrorIs(t, err, &framework.HangUpError{})
		require.NotErrorIs(t, err, framework.ErrOutcomeUnknown, "the value is as it was")
	})
}
