package fencesql

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocurator/curator/recipes/fence"
)

// Lease is what this package needs of a held lock. A *locks.Lease is a Lease.
type Lease interface {
	// Context ends when the lock is no longer held.
	Context() context.Context

	// FencingToken returns a number that grows from holder to holder.
	FencingToken() int64

	// Path returns the path of the lock's node, which names the holder in errors.
	Path() string
}

// ErrStale is matched by the error of a write that was refused because its row had
// already been written under a lease with a larger token. It is fence.ErrStale. A
// refused write has changed nothing, and the sender has lost the lock.
var ErrStale = fence.ErrStale

// StaleError is the error of a refused write. It matches ErrStale.
type StaleError struct {
	Token int64  // the token of the refused lease
	Owner string // the path of the refused lease

	NewestToken int64  // the token in the row
	NewestOwner string // the path of the lease that wrote that token
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("%v: %d of %s, after %d of %s", ErrStale, e.Token, e.Owner, e.NewestToken, e.NewestOwner)
}

// Unwrap returns ErrStale.
func (e *StaleError) Unwrap() error { return ErrStale }

// stamp is what a write leaves in its row.
type stamp struct {
	token int64
	owner string
}

// stampOf fails if the lease has ended.
func stampOf(l Lease) (stamp, error) {
	if ctx := l.Context(); ctx.Err() != nil {
		return stamp{}, fmt.Errorf("fencesql: the lease of %s has ended: %w", l.Path(), context.Cause(ctx))
	}
	return stamp{l.FencingToken(), l.Path()}, nil
}

// after returns a *StaleError if the newest stamp of a row is newer than s.
func (s stamp) after(newest stamp) error {
	if newest.token <= s.token {
		return nil
	}
	return &StaleError{s.token, s.owner, newest.token, newest.owner}
}

var errRaiseOnMySQL = errors.New("fencesql: MySQL does not report the isolation level of a running transaction, and a snapshot may be older than the guard row: use Within")
