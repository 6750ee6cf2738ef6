//go:build real

package databases

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/fencesql"
	"github.com/gocurator/curator/internal/histories"
)

// Promise: to compare a token in a database and to raise it is one step.
func TestStoreIsLinearizable(t *testing.T) {
	onEach(t, func(t *testing.T, k kind) {
		w := newWorld(t, k)
		store := w.guards().Store(w.db)
		var h histories.History
		var clients sync.WaitGroup
		for client := range 8 {
			random := rand.New(rand.NewPCG(1, uint64(client)))
			clients.Go(func() {
				for range 12 {
					asked := histories.Write{Token: 1 + random.Int64N(40)}
					call := h.Begin(client)
					switch err := store.Raise(t.Context(), "/lock", token(asked.Token)); {
					case err == nil:
						call.End(asked, histories.Done(true))
					case errors.Is(err, fencesql.ErrStale):
						call.End(asked, histories.Done(false))
					default: // the database has ended a deadlock
					}
				}
			})
		}
		clients.Wait()
		require.NoError(t, h.Check(histories.FencedRegister))
	})
}
