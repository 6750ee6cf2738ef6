package barriers_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// A Raise that fails after it has raised the barrier says that the outcome is
// unknown. One that has not is certain.
func TestRaiseThatFailsMayHaveRaised(t *testing.T) {
	for op, done := range map[zktest.Op]bool{zktest.OpCreate: false, zktest.OpGetData: true} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			c, _ := w.Connect(t)
			w.Fake.Inject(zktest.Rule{Optional: true, Op: op, Path: "/b", Do: zktest.Fail(zktest.ErrNoAuth)})
			_, err := barriers.NewBarrier(c, "/b").Raise(recipetest.Within(t, time.Second))
			_, up := w.Fake.Node("/b")
			require.Equal(t, done, up)
			if done {
				require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
			} else {
				require.Error(t, err)
				require.NotErrorIs(t, err, framework.ErrOutcomeUnknown)
			}
		})
	}
}
