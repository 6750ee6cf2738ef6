package seat

import (
	"errors"
)

// A hold's context ends with one of these causes, or with one of the
// framework's: ErrSessionLost, ErrSuspended and ErrClosed.
var (
	ErrReleased    = errors.New("lease released")
	ErrNodeDeleted = errors.New("lock node deleted by someone else")
	ErrRevoked     = errors.New("lock revoked")
)

// ErrCorrupted means that something below a lock's path was not put there by a
// server or a contender.
var ErrCorrupted = errors.New("corrupted data")
