package wire

import (
	"fmt"
)

// ErrEnd is the error field of the header that ends a multi.
const ErrEnd Code = -1

// Code is an error code of the protocol. The zero Code is success, and errors.Is can match
// every other Code.
type Code int32

// These are ZooKeeper's codes.
const (
	ErrSystem                  Code = -1
	ErrRuntimeInconsistency    Code = -2 // in a multi, an operation after the failed operation
	ErrDataInconsistency       Code = -3
	ErrConnectionLoss          Code = -4
	ErrMarshalling             Code = -5
	ErrUnimplemented           Code = -6
	ErrOperationTimeout        Code = -7
	ErrBadArguments            Code = -8
	ErrNewConfigNoQuorum       Code = -13
	ErrReconfigInProgress      Code = -14
	ErrNoNode                  Code = -101
	ErrNoAuth                  Code = -102
	ErrBadVersion              Code = -103
	ErrNoChildrenForEphemerals Code = -108
	ErrNodeExists              Code = -110
	ErrNotEmpty                Code = -111
	ErrSessionExpired          Code = -112
	ErrInvalidCallback         Code = -113
	ErrInvalidACL              Code = -114
	ErrAuthFailed              Code = -115
	ErrSessionMoved            Code = -118
	ErrNotReadOnly             Code = -119
	ErrEphemeralOnLocalSession Code = -120
	ErrNoWatcher               Code = -121
	ErrRequestTimeout          Code = -122
	ErrReconfigDisabled        Code = -123
	ErrSessionRequiresSASL     Code = -124 // the server closes sessions that did not authenticate by SASL
	ErrQuotaExceeded           Code = -125
	ErrThrottled               Code = -127
)

// OK means success.
const OK Code = 0

var codeNames = map[Code]string{
	OK: "ok", ErrSystem: "system error", ErrRuntimeInconsistency: "runtime inconsistency",
	ErrConnectionLoss: "connection loss", ErrMarshalling: "marshalling error",
	ErrUnimplemented: "unimplemented", ErrOperationTimeout: "operation timeout",
	ErrBadArguments: "bad arguments", ErrNoNode: "no node", ErrNoAuth: "not authorized",
	ErrBadVersion: "bad version", ErrNoChildrenForEphemerals: "no children for ephemerals",
	ErrNodeExists: "node exists", ErrNotEmpty: "not empty", ErrSessionExpired: "session expired",
	ErrInvalidACL: "invalid ACL", ErrAuthFailed: "authentication failed",
	ErrSessionMoved: "session moved", ErrNoWatcher: "no watcher",
	ErrRequestTimeout: "request timeout", ErrReconfigDisabled: "reconfig disabled",
	ErrQuotaExceeded: "quota exceeded", ErrThrottled: "throttled",
	ErrDataInconsistency: "data inconsistency", ErrNewConfigNoQuorum: "no quorum of the new configuration",
	ErrReconfigInProgress: "reconfig in progress", ErrInvalidCallback: "invalid callback",
	ErrNotReadOnly: "server is read-only", ErrEphemeralOnLocalSession: "ephemeral node on a local session",
	ErrSessionRequiresSASL: "SASL authentication required",
}

// Error returns the meaning and the number of the code.
func (c Code) Error() string {
	name, known := codeNames[c]
	if !known {
		name = "unknown error"
	}
	return fmt.Sprintf("zktest: %s (%d)", name, int32(c))
}

// Err returns the code as an error, or nil for success.
func (c Code) Err() error {
	if c == OK {
		return nil
	}
	return c
}
