package migratelock

import "fmt"

// LostError means that the lock was lost. errors.Is matches the reason, such as
// framework.ErrSessionLost; the comment of locks.Lease.Context lists all reasons.
type LostError struct {
	// Version is the target version of the step. It is database.NilVersion for Drop and
	// for the last step down. Unless Begun is true, the step was refused and has
	// changed nothing.
	Version int

	// Begun means that the lock was lost during the step. The step has ended, so the
	// version is clean. Another replica may have begun the same step, unless the driver has
	// its own lock.
	Begun bool

	Err error // the reason
}

// Error names the version and the reason.
func (e *LostError) Error() string {
	if e.Begun {
		return fmt.Sprintf("the migration to version %d ended without its lock, which was lost: %v", e.Version, e.Err)
	}
	return fmt.Sprintf("the migration to version %d was not begun, because the lock was lost: %v", e.Version, e.Err)
}

// Unwrap returns the reason.
func (e *LostError) Unwrap() error { return e.Err }
