package zktest

import "github.com/gocurator/curator/testing/zktest/internal/wire"

// Code is an error code of the protocol. Success is the zero Code; every other
// is an error that errors.Is can match. Codes without a name here are written
// by their number in ZooKeeper's KeeperException.Code, such as Code(-125) for a
// quota that is exceeded.
type Code = wire.Code

// The codes that tests name most.
const (
	ErrSystem           Code = wire.ErrSystem
	ErrConnectionLoss   Code = wire.ErrConnectionLoss
	ErrMarshalling      Code = wire.ErrMarshalling
	ErrUnimplemented    Code = wire.ErrUnimplemented
	ErrOperationTimeout Code = wire.ErrOperationTimeout
	ErrBadArguments     Code = wire.ErrBadArguments
	ErrNoNode           Code = wire.ErrNoNode
	ErrNoAuth           Code = wire.ErrNoAuth
	ErrBadVersion       Code = wire.ErrBadVersion
	ErrNodeExists       Code = wire.ErrNodeExists
	ErrNotEmpty         Code = wire.ErrNotEmpty
	ErrSessionExpired   Code = wire.ErrSessionExpired
	ErrAuthFailed       Code = wire.ErrAuthFailed
	ErrSessionMoved     Code = wire.ErrSessionMoved
	ErrRequestTimeout   Code = wire.ErrRequestTimeout
	ErrThrottled        Code = wire.ErrThrottled
)
