//go:build real

package processes

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
)

// Two replicas migrate a database once, with each library.
func TestMigrationsOnZooKeeper(t *testing.T) {
	srv := recipetest.BorrowServer(t)
	t.Run(withGolangMigrate, func(t *testing.T) {
		d := newDatabase(t, sqliteKind)
		first := start(t, srv, withGolangMigrate, d, "three steps", "version 2")
		require.Equal(t, "opening", first.hear(t))
		require.Equal(t, "version 2", first.hear(t))
		second := start(t, srv, withGolangMigrate, d, "three steps", "")
		first.goOn(t, atOnce)
		require.Equal(t, "migrated", first.hear(t))
		first.end(t)
		require.Equal(t, "opening", second.hear(t), "it has waited")
		require.Equal(t, "no change", second.hear(t))
		second.end(t)
		require.Equal(t, []int{1, 2, 3}, d.applied(t))
	})
	t.Run(withGoose, func(t *testing.T) {
		d := newDatabase(t, sqliteKind)
		var outcomes []string
		for _, p := range []*process{start(t, srv, withGoose, d, ""), start(t, srv, withGoose, d, "")} {
			require.Equal(t, "locked", p.hear(t))
			outcomes = append(outcomes, p.hear(t))
			p.end(t)
		}
		require.ElementsMatch(t, []string{"0 applied", "3 applied"}, outcomes)
		require.Equal(t, []int{1, 2, 3}, d.applied(t))
	})
}
