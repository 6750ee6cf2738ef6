package wire

import (
	"fmt"
)

// Op is the type of a request: its number on the wire. Three types have several variants; see
// [Op.Family].
type Op int32

// These are the requests that the server knows.
const (
	OpAny             Op = 0 // no request: in a Rule, every request but pings and handshakes
	OpCreate          Op = 1
	OpDelete          Op = 2
	OpExists          Op = 3
	OpGetData         Op = 4
	OpSetData         Op = 5
	OpGetACL          Op = 6
	OpSetACL          Op = 7
	OpGetChildren     Op = 8
	OpSync            Op = 9
	OpPing            Op = 11
	OpGetChildren2    Op = 12
	OpCheck           Op = 13
	OpMulti           Op = 14
	OpCreate2         Op = 15
	OpCheckWatches    Op = 17
	OpRemoveWatches   Op = 18
	OpCreateContainer Op = 19
	OpCreateTTL       Op = 21
	OpMultiRead       Op = 22
	OpAuth            Op = 100
	OpSetWatches      Op = 101
	OpSASL            Op = 102
	OpGetEphemerals   Op = 103
	OpSetWatches2     Op = 105
	OpAddWatch        Op = 106
	OpConnect         Op = -10 // the handshake, which has no number on the wire
	OpCloseSession    Op = -11
)

// OpError is the type of an error result in the answer to a multi.
const OpError Op = -1

var opNames = map[Op]string{
	OpAny: "any", OpCreate: "create", OpDelete: "delete", OpExists: "exists", OpGetData: "getData",
	OpSetData: "setData", OpGetACL: "getACL", OpSetACL: "setACL", OpGetChildren: "getChildren",
	OpSync: "sync", OpPing: "ping", OpGetChildren2: "getChildren2", OpCheck: "check",
	OpMulti: "multi", OpCreate2: "create2",
	OpCheckWatches: "checkWatches", OpRemoveWatches: "removeWatches", OpCreateContainer: "createContainer",

	OpCreateTTL: "createTTL", OpMultiRead: "multiRead", OpAuth: "auth",
	OpSetWatches: "setWatches", OpSASL: "sasl", OpGetEphemerals: "getEphemerals",
	OpSetWatches2: "setWatches2",
	OpAddWatch:    "addWatch", OpConnect: "connect", OpCloseSession: "closeSession",
}

// String returns the name of the request in ZooKeeper's sources.
func (o Op) String() string {
	if name, ok := opNames[o]; ok {
		return name
	}
	return fmt.Sprintf("op(%d)", int32(o))
}

// Family returns the type that represents all variants of o.
func (o Op) Family() Op {
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

// Covers reports whether a Rule with o matches a request of the type wire.
func (o Op) Covers(wire Op) bool {
	if o == OpAny {
		return wire != OpPing && wire != OpConnect
	}
	return o == wire || o == wire.Family()
}
