package locks_test

import (
	"testing"

	"github.com/gocurator/curator/internal/recipetest"
)

func TestMain(m *testing.M) { recipetest.Main(m) }

// world is the server that a scenario takes place on, fake or real.
type world struct{ *recipetest.World }

// onFakeAndReal runs a scenario on zktest in virtual time, and on a real
// server.
func onFakeAndReal(t *testing.T, scenario func(t *testing.T, w *world)) {
	t.Helper()
	recipetest.OnFakeAndReal(t, func(t *testing.T, w *recipetest.World) { scenario(t, &world{w}) })
}

func inVirtualTime(t *testing.T, scenario func(t *testing.T, w *world)) {
	t.Helper()
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) { scenario(t, &world{w}) })
}

// anyKey is the key of a value that a user has put into a context.
type anyKey struct{}
