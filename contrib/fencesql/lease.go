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

// ended returns an error if the lease has ended.
func ended(l Lease) error {
	if ctx := l.Context(); ctx.Err() != nil {
		return fmt.Errorf("fencesql: the lease of %s has ended: %w", l.Path(), context.Cause(ctx))
	}
	return nil
}

// stampOf fails if the lease has ended. It also fails without a token: a new row has the
// token 0, which two such leases would pass.
func stampOf(l Lease) (stamp, error) {
	if err := ended(l); err != nil {
		return stamp{}, err
	}
	s := stamp{l.FencingToken(), l.Path()}
	if s.token <= 0 {
		return stamp{}, fmt.Errorf("fencesql: %d of %s is no fencing token", s.token, s.owner)
	}
	return s, nil
}

// after returns a *StaleError if the newest stamp of a row is newer than s.
func (s stamp) after(newest stamp) error {
	if newest.token <= s.token {
		return nil
	}
	return &StaleError{s.token, s.owner, newest.token, newest.owner}
}

var errRaiseOnMySQL = errors.New("fencesql: MySQL does not report the isolation level of a running transaction, and a snapshot may be older than the guard row: use Within")
