package locks_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
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

// waitAhead waits until n goroutines of one client have a lock, or wait for it. A try
// counts them, and makes no request.
func waitAhead(t *testing.T, ctx context.Context, l locks.Locker, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := l.TryAcquire(ctx)
		var refused *locks.NotAcquiredError
		return reason.As(err, &refused) && refused.Ahead == n
	}, 20*time.Second, time.Millisecond)
}

// anyKey is the key of a value that a user has put into a context.
type anyKey struct{}
