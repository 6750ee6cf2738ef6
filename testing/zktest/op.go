package zktest

import "github.com/gocurator/curator/testing/zktest/internal/wire"

// Op is the type of a request, by the number it has on the wire. Its String method
// returns the name of the request as ZooKeeper's own sources spell it.
//
// In a [Rule] and in [Server.CountRequests] the three ops that come in several
// variants stand for all of them, because the client chooses the variant:
//
//   - OpCreate covers OpCreate2, OpCreateContainer and OpCreateTTL;
//   - OpGetChildren covers OpGetChildren2;
//   - OpSetWatches covers OpSetWatches2.
type Op = wire.Op

// The requests that the server knows.
const (
	OpAny                  Op = wire.OpAny // no request: in a Rule, every request but pings and handshakes
	OpCreate               Op = wire.OpCreate
	OpDelete               Op = wire.OpDelete
	OpExists               Op = wire.OpExists
	OpGetData              Op = wire.OpGetData
	OpSetData              Op = wire.OpSetData
	OpGetACL               Op = wire.OpGetACL
	OpSetACL               Op = wire.OpSetACL
	OpGetChildren          Op = wire.OpGetChildren
	OpSync                 Op = wire.OpSync
	OpPing                 Op = wire.OpPing
	OpGetChildren2         Op = wire.OpGetChildren2
	OpCheck                Op = wire.OpCheck
	OpMulti                Op = wire.OpMulti
	OpCreate2              Op = wire.OpCreate2
	OpReconfig             Op = wire.OpReconfig
	OpCheckWatches         Op = wire.OpCheckWatches
	OpRemoveWatches        Op = wire.OpRemoveWatches
	OpCreateContainer      Op = wire.OpCreateContainer
	OpDeleteContainer      Op = wire.OpDeleteContainer
	OpCreateTTL            Op = wire.OpCreateTTL
	OpMultiRead            Op = wire.OpMultiRead
	OpAuth                 Op = wire.OpAuth
	OpSetWatches           Op = wire.OpSetWatches
	OpSASL                 Op = wire.OpSASL
	OpGetEphemerals        Op = wire.OpGetEphemerals
	OpGetAllChildrenNumber Op = wire.OpGetAllChildrenNumber
	OpSetWatches2          Op = wire.OpSetWatches2
	OpAddWatch             Op = wire.OpAddWatch
	OpWhoAmI               Op = wire.OpWhoAmI
	OpConnect              Op = wire.OpConnect // the handshake; it has no number on the wire, this is the server's own name for it
	OpCloseSession         Op = wire.OpCloseSession
)
