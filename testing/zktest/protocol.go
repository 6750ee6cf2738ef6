package zktest

import (
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// Op is the type of a request, by the number it has on the wire. The method
// String returns the name of the request as ZooKeeper's own sources spell it.
//
// In a [Rule] and in [Server.CountRequests] three ops stand for several
// variants of a request, because the client chooses the variant:
//
//   - OpCreate covers create, create2, createContainer and createTTL;
//   - OpGetChildren covers getChildren and getChildren2;
//   - OpSetWatches covers setWatches and setWatches2.
//
// The method Covers asks for that: OpCreate.Covers(r.Op) reports whether the
// [Request] r is a create of any kind. Requests without a name here are written
// by their numbers, such as Op(103) for getEphemerals; the table in MODEL.md has
// them all.
type Op = wire.Op

// The requests that tests name most.
const (
	OpAny             Op = wire.OpAny // no request: in a Rule, every request but pings and handshakes
	OpCreate          Op = wire.OpCreate
	OpDelete          Op = wire.OpDelete
	OpExists          Op = wire.OpExists
	OpGetData         Op = wire.OpGetData
	OpSetData         Op = wire.OpSetData
	OpSetACL          Op = wire.OpSetACL
	OpGetChildren     Op = wire.OpGetChildren
	OpGetChildren2    Op = wire.OpGetChildren2
	OpSync            Op = wire.OpSync
	OpPing            Op = wire.OpPing
	OpMulti           Op = wire.OpMulti
	OpMultiRead       Op = wire.OpMultiRead
	OpRemoveWatches   Op = wire.OpRemoveWatches
	OpCreateContainer Op = wire.OpCreateContainer
	OpAuth            Op = wire.OpAuth
	OpSetWatches      Op = wire.OpSetWatches
	OpSASL            Op = wire.OpSASL
	OpAddWatch        Op = wire.OpAddWatch
	OpConnect         Op = wire.OpConnect // the handshake; it has no number on the wire, this is the server's own name for it
	OpCloseSession    Op = wire.OpCloseSession
)

// Code is an error code of the protocol. Success is the zero Code; every other
// is an error that errors.Is can match. Codes without a name here are written
// by their number in ZooKeeper's KeeperException.Code, such as Code(-125) for a
// quota that is exceeded.
type Code = wire.Code

// The codes that tests name most.
const (
	ErrSystem         Code = wire.ErrSystem
	ErrConnectionLoss Code = wire.ErrConnectionLoss
	ErrUnimplemented  Code = wire.ErrUnimplemented
	ErrBadArguments   Code = wire.ErrBadArguments
	ErrNoNode         Code = wire.ErrNoNode
	ErrNoAuth         Code = wire.ErrNoAuth
	ErrBadVersion     Code = wire.ErrBadVersion
	ErrNodeExists     Code = wire.ErrNodeExists
	ErrNotEmpty       Code = wire.ErrNotEmpty
	ErrSessionExpired Code = wire.ErrSessionExpired
	ErrAuthFailed     Code = wire.ErrAuthFailed
	ErrSessionMoved   Code = wire.ErrSessionMoved
	ErrThrottled      Code = wire.ErrThrottled
)
