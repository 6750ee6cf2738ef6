package zktest

import "fmt"

// Op is the type of a request, by the number it has on the wire.
//
// In a [Rule] and in [Server.CountRequests] the three ops that come in several
// variants stand for all of them, because which one is used is the client's
// choice: OpCreate covers OpCreate2, OpCreateContainer and OpCreateTTL,
// OpGetChildren covers OpGetChildren2, OpSetWatches covers OpSetWatches2.
type Op int32

// The requests the server knows.
const (
	OpAny                  Op = 0 // no request: in a Rule, every request but pings and handshakes
	OpCreate               Op = 1
	OpDelete               Op = 2
	OpExists               Op = 3
	OpGetData              Op = 4
	OpSetData              Op = 5
	OpGetACL               Op = 6
	OpSetACL               Op = 7
	OpGetChildren          Op = 8
	OpSync                 Op = 9
	OpPing                 Op = 11
	OpGetChildren2         Op = 12
	OpCheck                Op = 13
	OpMulti                Op = 14
	OpCreate2              Op = 15
	OpReconfig             Op = 16
	OpCheckWatches         Op = 17
	OpRemoveWatches        Op = 18
	OpCreateContainer      Op = 19
	OpDeleteContainer      Op = 20
	OpCreateTTL            Op = 21
	OpMultiRead            Op = 22
	OpAuth                 Op = 100
	OpSetWatches           Op = 101
	OpSASL                 Op = 102
	OpGetEphemerals        Op = 103
	OpGetAllChildrenNumber Op = 104
	OpSetWatches2          Op = 105
	OpAddWatch             Op = 106
	OpWhoAmI               Op = 107
	OpConnect              Op = -10 // the handshake; it has no number on the wire, this is the server's own name for it
	OpCloseSession         Op = -11
)

// opError marks an error result inside the answer to a multi.
const opError Op = -1

var opNames = map[Op]string{
	OpAny: "any", OpCreate: "create", OpDelete: "delete", OpExists: "exists", OpGetData: "getData",
	OpSetData: "setData", OpGetACL: "getACL", OpSetACL: "setACL", OpGetChildren: "getChildren",
	OpSync: "sync", OpPing: "ping", OpGetChildren2: "getChildren2", OpCheck: "check",
	OpMulti: "multi", OpCreate2: "create2", OpReconfig: "reconfig", OpCheckWatches: "checkWatches",
	OpRemoveWatches: "removeWatches", OpCreateContainer: "createContainer",
	OpDeleteContainer: "deleteContainer", OpSASL: "sasl",
	OpCreateTTL: "createTTL", OpMultiRead: "multiRead", OpAuth: "auth",
	OpSetWatches: "setWatches", OpGetEphemerals: "getEphemerals",
	OpGetAllChildrenNumber: "getAllChildrenNumber", OpSetWatches2: "setWatches2",
	OpAddWatch: "addWatch", OpWhoAmI: "whoAmI", OpConnect: "connect", OpCloseSession: "closeSession",
}

// String returns the name of the request as ZooKeeper's own sources spell it.
func (o Op) String() string {
	if name, ok := opNames[o]; ok {
		return name
	}
	return fmt.Sprintf("op(%d)", int32(o))
}

// family returns the op that stands for all variants of o.
func (o Op) family() Op {
	switch o {
	case OpCreate2, OpCreateContainer, OpCreateTTL:
		return OpCreate
	case OpGetChildren2:
		return OpGetChildren
	case OpSetWatches2:
		return OpSetWatches
	}
	return o
}

// covers reports whether o, as written in a Rule, means a request of type wire.
func (o Op) covers(wire Op) bool {
	if o == OpAny {
		return wire != OpPing && wire != OpConnect
	}
	return o == wire || o == wire.family()
}

// Code is an error code of the protocol. The zero Code is success; every other
// is an error that errors.Is can match.
type Code int32

// The codes the server answers with, and the ones that are useful with [Fail].
const (
	ErrSystem                  Code = -1
	ErrRuntimeInconsistency    Code = -2 // in a failed multi: an operation behind the one that failed
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

const ok Code = 0

var codeNames = map[Code]string{
	ok: "ok", ErrSystem: "system error", ErrRuntimeInconsistency: "runtime inconsistency",
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

// err returns the code as an error: nil for success.
func (c Code) err() error {
	if c == ok {
		return nil
	}
	return c
}

// eventType is the kind of a watch event.
type eventType int32

const (
	eventCreated         eventType = 1
	eventDeleted         eventType = 2
	eventDataChanged     eventType = 3
	eventChildrenChanged eventType = 4
)

// The xids and flags with a fixed meaning.
const (
	xidNotification int32 = -1
	xidPing         int32 = -2

	flagEphemeral     int32 = 1
	flagSequence      int32 = 2
	flagEphemeralSeq  int32 = 3
	flagContainer     int32 = 4
	flagTTL           int32 = 5
	flagTTLSequential int32 = 6
	maxFlags                = flagTTLSequential
)
