package discovery

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/testing/zktest"
)

// Registers that fail, each with an ID of its own, leave nothing behind.
func TestRegistersThatFailAreForgotten(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: -1, Do: zktest.Fail(zktest.ErrNoAuth)})
		r := NewRegistrar(w.Observer, "/services", CuratorCodec())
		for n := range 20 {
			require.Error(t, r.Register(w.Patience(t), Instance{Service: "orders", ID: fmt.Sprint(n), Address: "a", Port: 1}))
		}
		require.Empty(t, r.kept)
	})
}
