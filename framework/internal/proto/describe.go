package proto

import "github.com/gocurator/curator/framework/internal/jute"

// opNames are what ZooKeeper's ZooDefs.OpCode calls the operations.
var opNames = map[int32]string{
	OpCreate: "create", OpCreate2: "create", OpCreateContainer: "createContainer", OpCreateTTL: "createTTL",
	OpDelete: "delete", OpExists: "exists", OpGetData: "getData", OpSetData: "setData",
	OpGetACL: "getACL", OpSetACL: "setACL", OpGetChildren2: "getChildren", OpSync: "sync",
	OpCheck: "check", OpMulti: "multi", OpMultiRead: "multiRead", OpReconfig: "reconfig",
	OpAuth: "auth", OpSetWatches: "setWatches", OpAddWatch: "addWatch", OpRemoveWatches: "removeWatches",
	OpPing: "ping", OpCloseSession: "closeSession",
}

// multiHeader is the size of what is in front of each operation of a multi.
const multiHeader = 4 + 1 + 4

// Describe returns the name of a request's operation, and the path that it is
// about: of a multi, the first one's, and nothing of a request that is about
// none. The payload is what follows the RequestHeader.
func Describe(op int32, payload []byte) (name, path string) {
	r := jute.NewReader(payload)
	switch op {
	case OpAuth, OpSetWatches, OpReconfig, OpPing, OpCloseSession:
		return opNames[op], ""
	case OpMulti, OpMultiRead:
		r.Skip(multiHeader)
	}
	return opNames[op], r.String()
}

// CountWatches returns how many watches a setWatches request is about. The payload
// is what follows the RequestHeader.
func CountWatches(payload []byte) (n int) {
	r := jute.NewReader(payload)
	r.Skip(setWatchesZxid)
	for range setWatchesLists {
		for range r.Count(pathLength) {
			r.Skip(int(r.Int32()))
			n++
		}
	}
	return n
}

// CountReads returns how many nodes a MultiRead or a MultiChildren reads. The
// payload is what follows the RequestHeader.
func CountReads(payload []byte) (n int) {
	r := jute.NewReader(payload)
	for op := r.Int32(); op == OpGetData || op == OpGetChildren; op = r.Int32() {
		r.Bool()
		r.Int32()
		_ = r.Buffer() // the path
		r.Bool()
		n++
	}
	return n
}

const (
	setWatchesZxid  = 8
	setWatchesLists = 3
	pathLength      = 4 // each path follows its length
)
