package proto

// These are operation codes, as in ZooDefs.OpCode of ZooKeeper. On the wire they are
// ints.
const (
	OpCreate          = 1
	OpDelete          = 2
	OpExists          = 3
	OpGetData         = 4
	OpSetData         = 5
	OpGetACL          = 6
	OpSetACL          = 7
	OpGetChildren     = 8
	OpSync            = 9
	OpPing            = 11
	OpGetChildren2    = 12
	OpCheck           = 13
	OpMulti           = 14
	OpCreate2         = 15
	OpRemoveWatches   = 18
	OpCreateContainer = 19
	OpCreateTTL       = 21
	OpMultiRead       = 22
	OpAuth            = 100
	OpSetWatches      = 101
	OpSASL            = 102
	OpGetEphemerals   = 103
	OpAddWatch        = 106
	OpCloseSession    = -11

	// OpError is the type of an error in a multi's answer, and of the header that ends
	// a multi.
	OpError = -1
)

// AnyVersion matches every version of a node or of its access control list.
const AnyVersion int32 = -1
