//go:build real

package locks_test

import (
	"testing"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkserver"
)

// newEnsembleWorld returns an ensemble of three real servers.
func newEnsembleWorld(t *testing.T, opts ...zkserver.Option) (*world, *zkserver.Ensemble) {
	w, e := recipetest.NewEnsembleWorld(t, opts...)
	return &world{w}, e
}
