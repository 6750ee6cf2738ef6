package atomic_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/testing/zktest"
)

// Servers hang up on the value. The call ends with the first attempt that says so,
// because each one interrupts all other requests of the client.
func TestValueThatMakesServersHangUpIsAnError(t *testing.T) {
	for name, opts := range map[string][]atomic.Option{"plain": nil, "receipts": {atomic.WithReceipts("/receipts")}} {
		t.Run(name, func(t *testing.T) {
			recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
				c, _ := w.Connect(t)
				v := atomic.NewValue(c, "/value", codec.JSON[string](), opts...)
				require.NoError(t, v.Store(w.Patience(t), "short"))
				for _, op := range []zktest.Op{zktest.OpSetData, zktest.OpMulti} {
					defer w.Fake.Inject(zktest.Rule{Optional: true, Op: op, Times: -1, Path: "/value", Do: zktest.DropRequest()}).Remove()
				}
				begun := time.Now()
				err := v.Store(recipetest.Within(t, time.Hour), strings.Repeat("x", 120_000))
				require.ErrorIs(t, err, &framework.HangUpError{})
				require.Less(t, time.Since(begun), time.Minute)
			})
		})
	}
}
