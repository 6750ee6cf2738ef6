//go:build real

package databases

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/fencesql"
	"github.com/gocurator/curator/internal/histories"
)

// Promise: writes of eight clients at once, which lose their leases at random and go on,
// and whose requests are cancelled at random, are linearizable.
func TestHistoriesOfEightClientsAreLinearizable(t *testing.T) {
	onEach(t, func(t *testing.T, k kind) {
		w := newWorld(t, k)
		for seed := range uint64(20) {
			byRow, byGuard := int(seed)+100, int(seed)+200
			require.NoError(t, play(w, byRow, seed, updateOrUpsert).Check(histories.FencedRegister), "seed %d", seed)
			execute(t, w.driver, w.dsn, fmt.Sprintf("INSERT INTO register (id, value) VALUES (%d, '')", byGuard))
			require.NoError(t, play(w, byGuard, seed, execOrWithin).Check(histories.FencedRegister), "seed %d, with a guard row", seed)
		}
	})
}

// play has eight clients write to the register of a row, and read it. A client uses the
// token of its last lease, even if another client has the lock since.
func play(w world, row int, seed uint64, by writer) *histories.History {
	const clients, calls = 8, 12
	var h histories.History
	var mu sync.Mutex
	var newest int64
	var all sync.WaitGroup
	for client := range clients {
		random := rand.New(rand.NewPCG(seed, uint64(client)))
		all.Go(func() {
			var l token
			for i := range calls {
				if l == 0 || random.IntN(4) == 0 { // an older client loses its lease
					mu.Lock()
					newest++
					l = token(newest)
					mu.Unlock()
				}
				ctx, cancel := context.WithCancel(context.Background())
				if random.IntN(5) == 0 {
					go cancel()
				}
				if random.IntN(3) == 0 {
					read(ctx, w, row, &h, client)
				} else {
					write(ctx, w, row, &h, client, l, fmt.Sprint(client, " ", i), by, random.IntN(2) == 0)
				}
				cancel()
			}
		})
	}
	all.Wait()
	return &h
}

func read(ctx context.Context, w world, row int, h *histories.History, client int) {
	call := h.Begin(client)
	var now string
	err := w.db.QueryRowContext(ctx, w.text("SELECT COALESCE(max(value), '') FROM register WHERE id = $1"), row).Scan(&now)
	if err == nil {
		call.End(histories.Read{}, now)
	}
}

// writer writes a value to a row under a lease, in the first way or in the second.
type writer func(ctx context.Context, w world, row int, l token, now string, first bool) error

// updateOrUpsert updates a row that it expects to be there, or upserts it.
func updateOrUpsert(ctx context.Context, w world, row int, l token, now string, update bool) error {
	if update {
		return w.registers().Update(ctx, w.db, l, row, w.text("value = $1"), now)
	}
	return w.registers().Upsert(ctx, w.db, l, []string{"id", "value"}, []any{row, now})
}

func execOrWithin(ctx context.Context, w world, row int, l token, now string, exec bool) error {
	const query = "UPDATE register SET value = $1 WHERE id = $2"
	if exec {
		_, err := w.guards().Exec(ctx, w.db, l, fmt.Sprint(row), w.text(query), now, row)
		return err
	}
	return w.guards().Within(ctx, w.db, l, fmt.Sprint(row), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, w.text(query), now, row)
		return err
	})
}

func write(ctx context.Context, w world, row int, h *histories.History, client int, l token, now string, by writer, first bool) {
	asked := histories.Write{Token: int64(l), Value: now}
	call := h.Begin(client)
	err := by(ctx, w, row, l, now, first)
	switch {
	case err == nil:
		call.End(asked, histories.Done(true))
	case errors.Is(err, fencesql.ErrStale):
		call.End(asked, histories.Done(false))
	case ctx.Err() != nil:
		call.Open(asked)
	default: // there is no row yet, or the database has ended a deadlock
	}
}
