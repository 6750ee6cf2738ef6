//go:build real

package locks_test

import (
	"testing"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkserver"
)

func init() {
	onRealSequence = func(t *testing.T, paths []string, next int32, scenario func(t *testing.T, w *world)) {
		t.Helper()
		var opts []zkserver.Option
		for _, path := range paths {
			opts = append(opts, zkserver.WithSequence(path, next))
		}
		scenario(t, &world{recipetest.Real(t, zkserver.Start(t, opts...))})
	}
}
