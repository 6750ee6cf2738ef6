package zktest

import (
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// Op is the type of a request: its number on the wire. The method String returns the
// name of the request in ZooKeeper's sources.
//
// In a [Rule] and in [Server.CountRequests], some ops stand for all variants of a
// request, because the client chooses the variant:
//
//   - OpCreate covers create, create2, createContainer and createTTL.
//   - OpGetChildren covers getChildren and getChildren2.
//   - Op(101) covers setWatches and setWatches2.
//
// OpCreate.Covers(r.Op) reports whether the [Request] r is a create of any kind.
// A request without a name here is written by its number, such as Op(11) for a
// ping. MODEL.md has the table of all requests.
type Op = wire.Op

// These are the requests that most tests need.
const (
	OpAny         Op = wire.OpAny // no request: in a Rule, every request but pings and handshakes
	OpCreate      Op = wire.OpCreate
	OpDelete      Op = wire.OpDelete
	OpExists      Op = wire.OpExists
	OpGetData     Op = wire.OpGetData
	OpSetData     Op = wire.OpSetData
	OpGetChildren Op = wire.OpGetChildren
	OpSync        Op = wire.OpSync
	OpMulti       Op = wire.OpMulti
	OpConnect     Op = wire.OpConnect // the handshake, which has no number on the wire
)

// Code is an error code of the protocol. The zero Code is success, and errors.Is can
// match every other Code. A code without a name here is written by its number in
// ZooKeeper's KeeperException.Code, such as Code(-125) for an exceeded quota.
type Code = wire.Code

// These are the codes that most tests need.
const (
	ErrConnectionLoss Code = wire.ErrConnectionLoss
	ErrNoAuth         Code = wire.ErrNoAuth
)
