package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// These are exit statuses other than the child's. The first ones have the meanings of
// sysexits.h, and the last ones the meanings of shells.
const (
	badUsage    = 64
	noServer    = 69
	notAcquired = 75
	lost        = 76
	noRights    = 77
	notStopped  = 78 // the lock was lost, and the command keeps running
	ownFailure  = 125
	notExecuted = 126 // the child's program cannot be executed
	notFound    = 127 // the child's program does not exist
	bySignal    = 128 // plus the signal's number
)

// statusError is an error with an exit status. If err is nil, no text is written.
type statusError struct {
	status int
	err    error
}

func (e statusError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e statusError) Unwrap() error { return e.err }

// usagef returns the error of a command line that cannot be used.
func usagef(format string, args ...any) error {
	return statusError{badUsage, fmt.Errorf(format, args...)}
}

// statusOf returns the exit status of an error: its own status, or the status for its
// reason.
func statusOf(err error) int {
	var e statusError
	var config *framework.ConfigError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.status
	case errors.As(err, &config), errors.Is(err, zk.ErrInvalidPath):
		return badUsage
	case errors.Is(err, zk.ErrNoAuth), errors.Is(err, zk.ErrAuthFailed):
		return noRights
	case errors.Is(err, locks.ErrNotAcquired), errors.Is(err, errHeld), errors.Is(err, errUndecided),
		errors.Is(err, context.DeadlineExceeded):
		return notAcquired
	case errors.Is(err, framework.ErrNotConnected), framework.IsConnectionError(err):
		return noServer
	}
	return ownFailure
}
