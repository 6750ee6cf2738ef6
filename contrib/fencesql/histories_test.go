package fencesql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/fencesql"
	"github.com/gocurator/curator/internal/histories"
)

// schedule has eight clients that take turns as its seed says. One goroutine runs at
// a time, so that a seed gives the same history each time.
type schedule struct {
	db      *sql.DB
	random  *rand.Rand
	newest  int64 // the token of the last lease
	history histories.History
}

// writer writes a value under a lease. Others have their turn whenever it pauses.
type writer func(db *sql.DB, l fencesql.Lease, value string, pause func()) error

// runs returns the history of eight clients. They write in one of several ways, which
// the seed chooses, and read. Now and then the lock passes to another client, whatever
// the holder is doing. A client uses the token of its last lease.
func runs(t *testing.T, seed uint64, writers ...writer) *histories.History {
	s := &schedule{db: newDatabase(t), random: rand.New(rand.NewPCG(seed, 0))}
	var clients []func() (struct{}, bool)
	for i := range 8 {
		next, stop := iter.Pull(func(yield func(struct{}) bool) { s.client(i, writers, func() { yield(struct{}{}) }) })
		defer stop()
		clients = append(clients, next)
	}
	for len(clients) > 0 {
		i := s.random.IntN(len(clients))
		if _, ok := clients[i](); !ok {
			clients = append(clients[:i], clients[i+1:]...)
		}
	}
	return &s.history
}

func (s *schedule) client(id int, writers []writer, pause func()) {
	var token int64
	for n := range 6 {
		if token == 0 || s.random.IntN(3) == 0 {
			s.newest++
			token = s.newest
		}
		pause()
		call := s.history.Begin(id)
		pause()
		if s.random.IntN(3) == 0 {
			var now string
			err := s.db.QueryRow("SELECT value FROM register WHERE id = 1").Scan(&now)
			pause()
			if err == nil {
				call.End(histories.Read{}, now)
			}
			continue
		}
		now := fmt.Sprint(id, " ", n)
		asked := histories.Write{Token: token, Value: now}
		err := writers[s.random.IntN(len(writers))](s.db, held(token), now, pause)
		pause()
		switch {
		case s.random.IntN(10) == 0 && (err == nil || errors.Is(err, fencesql.ErrStale)):
			call.Open(asked) // the reply is lost
		case err == nil:
			call.End(asked, histories.Done(true))
		case errors.Is(err, fencesql.ErrStale):
			call.End(asked, histories.Done(false))
		default: // SQLite has one writer at a time, and this was not the one
		}
	}
}

func atOnce(way string) writer {
	return func(db *sql.DB, l fencesql.Lease, value string, _ func()) error { return ways[way](db, l, value) }
}

// slowly pauses before and after it writes, in a transaction.
func slowly(db *sql.DB, l fencesql.Lease, value string, pause func()) error {
	return guards.Within(context.Background(), db, l, "register", func(tx *sql.Tx) error {
		pause()
		_, err := tx.Exec("UPDATE register SET value = ? WHERE id = 1", value)
		pause()
		return err
	})
}

// seeds is how many histories of each kind there are.
const seeds = 30

// Promise: writes of clients that lose their leases at any moment, and go on, are
// linearizable: each is applied at one moment between its begin and its end, and at
// that moment no client with a larger token has written.
func TestHistoriesAreLinearizable(t *testing.T) {
	for name, writers := range map[string][]writer{
		"rows":       {atOnce("update"), atOnce("upsert"), atOnce("batch")},
		"guard rows": {atOnce("exec"), atOnce("within"), atOnce("raise"), slowly},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(seeds) {
				require.NoError(t, runs(t, seed, writers...).Check(histories.FencedRegister), "seed %d", seed)
			}
		})
	}
}

// Each of these writers has a fault that people make. The model rejects a history of
// each.
func TestFaultsAreNoticed(t *testing.T) {
	const update = "UPDATE register SET value = ?, fence_token = ? WHERE id = 1"
	execute := func(db *sql.DB, query string, args ...any) error {
		res, err := db.Exec(query, args...)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return fencesql.ErrStale
	}
	for name, write := range map[string]writer{
		"the check is another statement": func(db *sql.DB, l fencesql.Lease, value string, pause func()) error {
			var newest int64
			if err := db.QueryRow("SELECT fence_token FROM register WHERE id = 1").Scan(&newest); err != nil || newest > l.FencingToken() {
				return errors.Join(err, fencesql.ErrStale)
			}
			pause()
			return execute(db, update, value, l.FencingToken())
		},
		"the token is raised later": func(db *sql.DB, l fencesql.Lease, value string, pause func()) error {
			if err := execute(db, "UPDATE register SET value = ? WHERE id = 1 AND fence_token <= ?", value, l.FencingToken()); err != nil {
				return err
			}
			pause()
			return execute(db, "UPDATE register SET fence_token = max(fence_token, ?) WHERE id = 1", l.FencingToken())
		},
		"the token is not raised": func(db *sql.DB, l fencesql.Lease, value string, _ func()) error {
			return execute(db, "UPDATE register SET value = ? WHERE id = 1 AND fence_token <= ?", value, l.FencingToken())
		},
		"an equal token is refused": func(db *sql.DB, l fencesql.Lease, value string, _ func()) error {
			return execute(db, update+" AND fence_token < ?", value, l.FencingToken(), l.FencingToken())
		},
		"the resignation resets the token": func(db *sql.DB, l fencesql.Lease, value string, pause func()) error {
			if err := execute(db, update+" AND fence_token <= ?", value, l.FencingToken(), l.FencingToken()); err != nil {
				return err
			}
			pause()
			_, err := db.Exec("UPDATE register SET fence_token = 0 WHERE id = 1 AND fence_token = ?", l.FencingToken())
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(seeds) {
				if runs(t, seed, write).Check(histories.FencedRegister) != nil {
					return
				}
			}
			t.Error("each history has an explanation")
		})
	}
}
