package datatree

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

const owner int64 = 42

// step is one write and what is expected of it.
type step struct {
	write func(*Txn) wire.Code
	code  wire.Code
	path  string // of the node created
}

func create(path string, flags int32) func(*Txn) wire.Code {
	r := wire.CreateRequest{Op: wire.OpCreate, Path: path, Data: []byte("d"), ACL: OpenACL, Flags: flags}
	switch flags {
	case wire.FlagContainer:
		r.Op = wire.OpCreateContainer
	case wire.FlagTTL, wire.FlagTTLSequence:
		r.Op, r.TTL = wire.OpCreateTTL, 1000
	}
	return request(r)
}

func request(r wire.CreateRequest) func(*Txn) wire.Code {
	return func(tx *Txn) wire.Code {
		_, code := tx.Create(&r)
		return code
	}
}

func remove(path string, version int32) func(*Txn) wire.Code {
	return func(tx *Txn) wire.Code { return tx.Delete(path, version) }
}

func set(path string, version int32) func(*Txn) wire.Code {
	return func(tx *Txn) wire.Code {
		_, code := tx.SetData(path, []byte("new"), version)
		return code
	}
}

func check(path string, version int32) func(*Txn) wire.Code {
	return func(tx *Txn) wire.Code { return tx.Check(path, version) }
}

// run performs steps as transactions 1, 2, ... at 1000, 2000, ... milliseconds.
func run(t *testing.T, tr *Tree, steps ...step) {
	t.Helper()
	for i, s := range steps {
		tx := &Txn{Tree: tr, Zxid: int64(i + 1), Now: int64(i+1) * 1000, Session: owner, TTLNodes: true}
		before := dump(tr)
		code := s.write(tx)
		require.Equal(t, s.code, code, "step %d", i+1)
		require.Equal(t, s.path, tx.Created, "step %d", i+1)
		if s.code != wire.OK {
			tx.Rollback()
			require.Equal(t, before, dump(tr), "step %d failed and must change nothing", i+1)
		}
		require.NoError(t, tr.Verify())
	}
}

// nodeCopy is a node that later transactions do not change.
type nodeCopy struct {
	data string
	stat wire.Stat
	acl  []wire.ACL
}

// dump makes a tree comparable.
func dump(tr *Tree) map[string]nodeCopy {
	all := make(map[string]nodeCopy)
	for path, n := range tr.nodes {
		all[path] = nodeCopy{string(n.Data), n.Stat(), slices.Clone(n.ACL)}
	}
	return all
}

func TestFreshTree(t *testing.T) {
	tr := New()
	require.Equal(t, wire.Stat{Cversion: -1, NumChildren: 1}, tr.nodes["/"].Stat())
	require.Equal(t, []string{"/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"},
		slices.Sorted(maps.Keys(tr.nodes)))
}

func TestSequenceNumberCountsEveryCreate(t *testing.T) {
	run(t, New(),
		step{create("/p", 0), wire.OK, "/p"},
		step{create("/p/s-", wire.FlagSequence), wire.OK, "/p/s-0000000000"},
		step{create("/p/plain", 0), wire.OK, "/p/plain"},
		step{create("/p/plain", 0), wire.ErrNodeExists, ""},
		step{remove("/p/plain", -1), wire.OK, ""},
		step{create("/p/s-", wire.FlagEphemeralSequence), wire.OK, "/p/s-0000000002"},
		step{create("/p/", wire.FlagSequence), wire.OK, "/p/0000000003"},
		step{create("/p/t-", wire.FlagTTLSequence), wire.OK, "/p/t-0000000004"},
	)
}

// TestEndOfSequenceConforms compares this with a real server.
func TestSequenceEnds(t *testing.T) {
	tr := New()
	run(t, tr, step{create("/p", 0), wire.OK, "/p"})
	tr.nodes["/p"].Created = math.MaxInt32 - 1
	run(t, tr,
		step{create("/p/a-", wire.FlagSequence), wire.OK, "/p/a-2147483646"},
		step{create("/p/b-", wire.FlagSequence), wire.OK, "/p/b-2147483647"},
		step{create("/p/c-", wire.FlagSequence), wire.OK, "/p/c-2147483647"},
		step{remove("/p/c-2147483647", -1), wire.OK, ""},
		step{create("/p/d-", wire.FlagSequence), wire.OK, "/p/d-2147483647"},
		step{create("/p/d-", wire.FlagSequence), wire.ErrNodeExists, ""},
	)
	require.EqualValues(t, 4, tr.nodes["/p"].Pzxid, "it was the deletion")
}

// A negative number does not come from a tree; SetSequence can ask for it.
func TestNegativeNumbersHaveTenCharacters(t *testing.T) {
	tr := New()
	run(t, tr, step{create("/p", 0), wire.OK, "/p"})
	tr.nodes["/p"].Created = -5
	run(t, tr,
		step{create("/p/s-", wire.FlagSequence), wire.OK, "/p/s--000000005"},
		step{create("/p/s-", wire.FlagSequence), wire.OK, "/p/s--000000004"},
	)
}

func TestStatArithmetic(t *testing.T) {
	tr := New()
	run(t, tr,
		step{create("/p", 0), wire.OK, "/p"},         // 1
		step{create("/p/a", 0), wire.OK, "/p/a"},     // 2
		step{create("/p/b", 1), wire.OK, "/p/b"},     // 3
		step{remove("/p/a", -1), wire.OK, ""},        // 4
		step{set("/p", 0), wire.OK, ""},              // 5
		step{set("/p", 0), wire.ErrBadVersion, ""},   // 6
		step{set("/p/b", -1), wire.OK, ""},           // 7
		step{create("/p/c", 4), wire.OK, "/p/c"},     // 8
		step{remove("/p", -1), wire.ErrNotEmpty, ""}, // 9
	)
	require.Equal(t, wire.Stat{
		Czxid: 1, Ctime: 1000, Mzxid: 5, Mtime: 5000, Version: 1, Pzxid: 8,
		Cversion: 4, NumChildren: 2, DataLength: 3,
	}, tr.nodes["/p"].Stat())
	require.Equal(t, wire.Stat{
		Czxid: 3, Ctime: 3000, Mzxid: 7, Mtime: 7000, Version: 1, Pzxid: 3,
		EphemeralOwner: owner, DataLength: 3,
	}, tr.nodes["/p/b"].Stat())
	require.Zero(t, tr.nodes["/p/c"].Stat().EphemeralOwner)
}

// Where several things are wrong, the first check decides.
func TestCreateChecksInOrder(t *testing.T) {
	ttl := func(path string, flags int32, ttl int64) func(*Txn) wire.Code {
		return request(wire.CreateRequest{Op: wire.OpCreateTTL, Path: path, ACL: OpenACL, Flags: flags, TTL: ttl})
	}
	acl := func(path string, acl ...wire.ACL) func(*Txn) wire.Code {
		return request(wire.CreateRequest{Op: wire.OpCreate, Path: path, ACL: acl})
	}
	tr := New()
	run(t, tr,
		step{create("/e", wire.FlagEphemeral), wire.OK, "/e"},
		step{acl("/closed", wire.ACL{Perms: wire.PermRead, ID: Anyone}), wire.OK, "/closed"},
		step{create("nonsense", 7), wire.ErrBadArguments, ""},
		step{create("/x", -1), wire.ErrBadArguments, ""},
		step{ttl("/x", wire.FlagTTL, 0), wire.ErrBadArguments, ""},
		step{ttl("/x", wire.FlagTTL, 1<<40), wire.ErrBadArguments, ""},
		step{ttl("/x", 0, 5), wire.ErrBadArguments, ""},
		step{create("x", 0), wire.ErrBadArguments, ""},
		step{create("", 0), wire.ErrBadArguments, ""},
		step{create("/missing/\x00", 0), wire.ErrBadArguments, ""},
		step{acl("/missing/x"), wire.ErrInvalidACL, ""},
		step{acl("/missing/x", wire.ACL{Perms: wire.PermAll, ID: wire.ID{Scheme: "digest", ID: "nohash"}}), wire.ErrInvalidACL, ""},
		step{acl("/missing/x", wire.ACL{Perms: wire.PermAll, ID: wire.ID{Scheme: "nobody", ID: "x"}}), wire.ErrInvalidACL, ""},
		step{acl("/missing/x", wire.ACL{Perms: wire.PermAll, ID: wire.ID{Scheme: "world", ID: "x"}}), wire.ErrInvalidACL, ""},
		step{acl("/missing/x", wire.ACL{Perms: wire.PermAll, ID: wire.ID{Scheme: "ip", ID: "300.0.0.1"}}), wire.ErrInvalidACL, ""},
		step{acl("/missing/x", wire.ACL{Perms: wire.PermAll, ID: wire.ID{Scheme: "ip", ID: "10.0.0.0/8"}}), wire.ErrNoNode, ""},
		step{create("/missing/..", 0), wire.ErrNoNode, ""},
		step{create("!no/root", 0), wire.ErrNoNode, ""},
		step{create("/closed/..", 0), wire.ErrNoAuth, ""},
		step{create("/e/..", 0), wire.ErrBadArguments, ""},
		step{create("/e/", 0), wire.ErrBadArguments, ""},
		step{create("/e/x", 0), wire.ErrNoChildrenForEphemerals, ""},
		step{create("/", 0), wire.ErrNodeExists, ""},
		step{create("/e", 0), wire.ErrNodeExists, ""},
	)
}

func TestDeleteAndSetChecksInOrder(t *testing.T) {
	tr := New()
	run(t, tr,
		step{create("/p", 0), wire.OK, "/p"},
		step{create("/p/c", 0), wire.OK, "/p/c"},
		step{remove("/", -1), wire.ErrBadArguments, ""},
		step{remove("/zookeeper/quota", -1), wire.ErrBadArguments, ""},
		step{remove("p", -1), wire.ErrBadArguments, ""},
		step{remove("/missing/x", 3), wire.ErrNoNode, ""},
		step{remove("/missing", 3), wire.ErrNoNode, ""},
		step{remove("/p", 3), wire.ErrBadVersion, ""},
		step{remove("/p", 0), wire.ErrNotEmpty, ""},
		step{set("/p/", 3), wire.ErrBadArguments, ""},
		step{set("/missing", 3), wire.ErrNoNode, ""},
		step{set("/p", 3), wire.ErrBadVersion, ""},
		step{check("/p", 3), wire.ErrBadVersion, ""},
		step{check("/p", 0), wire.OK, ""},
		step{remove("/p/c", 0), wire.OK, ""},
		step{remove("/p", 0), wire.OK, ""},
	)
}

func TestRollbackRestoresEverything(t *testing.T) {
	tr := New()
	run(t, tr, step{create("/p", 0), wire.OK, "/p"}, step{create("/p/a", wire.FlagEphemeral), wire.OK, "/p/a"})
	before, ephemerals := dump(tr), tr.EphemeralsOf(owner)
	tx := &Txn{Tree: tr, Zxid: 9, Now: 9000, Session: owner, TTLNodes: true}
	for _, w := range []func(*Txn) wire.Code{
		set("/p", -1), remove("/p/a", -1), create("/p/s-", wire.FlagEphemeralSequence), create("/p/c", wire.FlagContainer),
		set("/p", -1), remove("/p/c", -1), create("/p/a", 0),
	} {
		require.Equal(t, wire.OK, w(tx))
	}
	tx.Rollback()
	require.Equal(t, before, dump(tr))
	require.Equal(t, ephemerals, tr.EphemeralsOf(owner))
	require.Empty(t, tr.reapable)
}

func TestTreeKeepsItsOwnCopyOfData(t *testing.T) {
	tr := New()
	data := []byte("d")
	run(t, tr, step{request(wire.CreateRequest{Op: wire.OpCreate, Path: "/a", Data: data, ACL: OpenACL}), wire.OK, "/a"})
	data[0] = 'X'
	require.Equal(t, "d", string(tr.nodes["/a"].Data))
}

func TestOutdated(t *testing.T) {
	tr := New()
	run(t, tr,
		step{create("/unused", wire.FlagContainer), wire.OK, "/unused"},
		step{create("/used", wire.FlagContainer), wire.OK, "/used"},
		step{create("/full", wire.FlagContainer), wire.OK, "/full"},
		step{create("/used/x", 0), wire.OK, "/used/x"},
		step{create("/full/x", 0), wire.OK, "/full/x"},
		step{remove("/used/x", -1), wire.OK, ""},
		step{create("/ttl", wire.FlagTTL), wire.OK, "/ttl"}, // at 7000, for 1000
	)
	require.Equal(t, []string{"/used"}, tr.Outdated(8000))
	require.Equal(t, []string{"/ttl", "/used"}, tr.Outdated(8001))
}
