package fencesql

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocurator/curator/recipes/fence"
)

// Lease is the part of a held lock that this package needs. A *locks.Lease is a Lease.
// In a service whose caller holds the lock, fence.FromContext returns the caller's
// Lease; see package fencehttp and module contrib/fencegrpc.
type Lease = fence.Lease

// ErrStale is matched by the error of a write that was refused because its row had
// already been written under a lease with a larger token. It is fence.ErrStale. A
// refused write has changed nothing, and the sender has lost the lock.
var ErrStale = fence.ErrStale

// StaleError is the error of a refused write. It matches ErrStale.
type StaleError = fence.StaleError

// stamp is the token and the owner that a write stores in its row.
type stamp struct {
	token int64
	owner string
}

// ended returns an error if the lease has ended.
func ended(l Lease) error {
	if ctx := l.Context(); ctx.Err() != nil {
		return &endedError{l.Path(), context.Cause(ctx)}
	}
	return nil
}

// endedError is the error of a write whose lease has ended. It matches what the cause
// matches, except for ErrStale: the cause may be the refusal of another write, and the
// resource of this write has refused nothing.
type endedError struct {
	path  string
	cause error
}

func (e *endedError) Error() string {
	return fmt.Sprintf("fencesql: the lease of %s has ended: %v", e.path, e.cause)
}

func (e *endedError) Is(target error) bool {
	return target != ErrStale && errors.Is(e.cause, target) //nolint:forbidigo // for users
}

func (e *endedError) As(target any) bool {
	_, stale := target.(**StaleError)
	return !stale && errors.As(e.cause, target) //nolint:forbidigo // for users
}

// stampOf returns an error if the lease has ended or has no token. A new row has the
// token 0, which would admit any number of leases without a token.
func stampOf(l Lease) (stamp, error) {
	if err := ended(l); err != nil {
		return stamp{}, err
	}
	s := stamp{l.FencingToken(), l.Path()}
	if s.token <= 0 {
		return stamp{}, fmt.Errorf("fencesql: %d of %s is not a fencing token", s.token, s.owner)
	}
	return s, nil
}

// after returns a *StaleError if the newest stamp of a row is newer than s.
func (s stamp) after(newest stamp) error {
	if newest.token <= s.token {
		return nil
	}
	return &StaleError{Token: s.token, Owner: s.owner, NewestToken: newest.token, NewestOwner: newest.owner}
}

var errRaiseOnMySQL = errors.New("fencesql: MySQL does not report the isolation level of a running transaction, " +
	"and a snapshot may be older than the guard row: use Within")
