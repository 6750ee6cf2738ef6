package fencesql

import (
	"context"
	"database/sql"

	"github.com/gocurator/curator/recipes/fence"
)

// Store returns a fence.Store whose Raise raises the row of a resource in one statement,
// and on MySQL in a transaction. It is for a table of guard rows whose keys are text. The
// row is inserted if it is missing.
func (t Table) Store(db *sql.DB) fence.Store { return store{t, db} }

type store struct {
	Table
	db *sql.DB
}

// Raise implements fence.Store.
func (s store) Raise(ctx context.Context, resource string, lease Lease) error {
	return s.Upsert(ctx, s.db, lease, []string{s.Key}, []any{resource})
}
