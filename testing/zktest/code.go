package zktest

import "github.com/gocurator/curator/testing/zktest/internal/wire"

// Code is an error code of the protocol. Success is the zero Code; every other
// is an error that errors.Is can match. Codes without a name here are written
// by their number, such as Code(-113).
type Code = wire.Code

// The codes that the server answers with, and others that are useful with
// [Fail].
const (
	ErrSystem                  Code = wire.ErrSystem
	ErrConnectionLoss          Code = wire.ErrConnectionLoss
	ErrMarshalling             Code = wire.ErrMarshalling
	ErrUnimplemented           Code = wire.ErrUnimplemented
	ErrOperationTimeout        Code = wire.ErrOperationTimeout
	ErrBadArguments            Code = wire.ErrBadArguments
	ErrNewConfigNoQuorum       Code = wire.ErrNewConfigNoQuorum
	ErrReconfigInProgress      Code = wire.ErrReconfigInProgress
	ErrNoNode                  Code = wire.ErrNoNode
	ErrNoAuth                  Code = wire.ErrNoAuth
	ErrBadVersion              Code = wire.ErrBadVersion
	ErrNoChildrenForEphemerals Code = wire.ErrNoChildrenForEphemerals
	ErrNodeExists              Code = wire.ErrNodeExists
	ErrNotEmpty                Code = wire.ErrNotEmpty
	ErrSessionExpired          Code = wire.ErrSessionExpired
	ErrInvalidACL              Code = wire.ErrInvalidACL
	ErrAuthFailed              Code = wire.ErrAuthFailed
	ErrSessionMoved            Code = wire.ErrSessionMoved
	ErrNotReadOnly             Code = wire.ErrNotReadOnly
	ErrNoWatcher               Code = wire.ErrNoWatcher
	ErrRequestTimeout          Code = wire.ErrRequestTimeout
	ErrReconfigDisabled        Code = wire.ErrReconfigDisabled
	ErrQuotaExceeded           Code = wire.ErrQuotaExceeded
	ErrThrottled               Code = wire.ErrThrottled
)
