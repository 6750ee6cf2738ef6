package migratelock

import "fmt"

// LostError says that the lock was lost. Match the reason with errors.Is, such as
// framework.ErrSessionLost; the context of a locks.Lease has all reasons.
type LostError struct {
	// Version is the version to which the step leads. It is database.NilVersion for
	// Drop, and for the last step down. The step was refused, and has changed
	// nothing, unless it is Begun.
	Version int

	// Begun means that the lock was lost during the step. The step has ended, so that the
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
