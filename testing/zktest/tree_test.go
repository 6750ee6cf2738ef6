package zktest

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const owner int64 = 42

// step is one write and what is expected of it.
type step struct {
	write write
	code  Code
	path  string // of the node created
}

func create(path string, flags int32) *createOp {
	op := OpCreate
	var ttl int64
	switch flags {
	case flagContainer:
		op = OpCreateContainer
	case flagTTL, flagTTLSequential:
		op, ttl = OpCreateTTL, 1000
	}
	return &createOp{pathOp{path}, op, []byte("d"), openACL, flags, ttl}
}

func remove(path string, version int32) *deleteOp { return &deleteOp{pathOp{path}, version} }

func set(path string, version int32) *setDataOp {
	return &setDataOp{pathOp{path}, []byte("new"), version}
}

// run performs steps as transactions 1, 2, ... at 1000, 2000, ... milliseconds.
func run(t *testing.T, tr *tree, steps ...step) {
	t.Helper()
	for i, s := range steps {
		tx := &txn{tree: tr, zxid: int64(i + 1), now: int64(i+1) * 1000, session: owner, ttl: true}
		before := dump(tr)
		require.Equal(t, s.code, s.write.apply(tx, &encoder{}), "step %d: %s", i+1, s.write.target())
		require.Equal(t, s.path, tx.created, "step %d", i+1)
		if s.code != ok {
			require.Equal(t, before, dump(tr), "step %d failed and must change nothing", i+1)
		}
	}
}

// dump makes a tree comparable.
func dump(tr *tree) map[string]Node {
	all := make(map[string]Node)
	for path, n := range tr.nodes {
		all[path] = n.export(path)
	}
	return all
}

func TestFreshTree(t *testing.T) {
	tr := newTree()
	require.Equal(t, Stat{Cversion: -1, NumChildren: 1}, tr.nodes["/"].stat())
	require.Equal(t, []string{"/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"},
		slices.Sorted(maps.Keys(tr.nodes)))
}

func TestSequenceNumberCountsEveryCreate(t *testing.T) {
	run(t, newTree(),
		step{create("/p", 0), ok, "/p"},
		step{create("/p/s-", flagSequence), ok, "/p/s-0000000000"},
		step{create("/p/plain", 0), ok, "/p/plain"},
		step{create("/p/plain", 0), ErrNodeExists, ""},
		step{remove("/p/plain", -1), ok, ""},
		step{create("/p/s-", flagEphemeralSeq), ok, "/p/s-0000000002"},
		step{create("/p/", flagSequence), ok, "/p/0000000003"},
		step{create("/p/t-", flagTTLSequential), ok, "/p/t-0000000004"},
	)
}

// TestEndOfSequenceConforms compares this with a real server.
func TestSequenceEnds(t *testing.T) {
	tr := newTree()
	run(t, tr, step{create("/p", 0), ok, "/p"})
	tr.nodes["/p"].created = math.MaxInt32 - 1
	run(t, tr,
		step{create("/p/a-", flagSequence), ok, "/p/a-2147483646"},
		step{create("/p/b-", flagSequence), ok, "/p/b-2147483647"},
		step{create("/p/c-", flagSequence), ok, "/p/c-2147483647"},
		step{remove("/p/c-2147483647", -1), ok, ""},
		step{create("/p/d-", flagSequence), ok, "/p/d-2147483647"},
		step{create("/p/d-", flagSequence), ErrNodeExists, ""},
	)
	require.EqualValues(t, 4, tr.nodes["/p"].pzxid, "it was the deletion")
}

// A negative number does not come from a tree; SetSequence can ask for it.
func TestNegativeNumbersHaveTenCharacters(t *testing.T) {
	tr := newTree()
	run(t, tr, step{create("/p", 0), ok, "/p"})
	tr.nodes["/p"].created = -5
	run(t, tr,
		step{create("/p/s-", flagSequence), ok, "/p/s--000000005"},
		step{create("/p/s-", flagSequence), ok, "/p/s--000000004"},
	)
}

func TestStatArithmetic(t *testing.T) {
	tr := newTree()
	run(t, tr,
		step{create("/p", 0), ok, "/p"},         // 1
		step{create("/p/a", 0), ok, "/p/a"},     // 2
		step{create("/p/b", 1), ok, "/p/b"},     // 3
		step{remove("/p/a", -1), ok, ""},        // 4
		step{set("/p", 0), ok, ""},              // 5
		step{set("/p", 0), ErrBadVersion, ""},   // 6
		step{set("/p/b", -1), ok, ""},           // 7
		step{create("/p/c", 4), ok, "/p/c"},     // 8
		step{remove("/p", -1), ErrNotEmpty, ""}, // 9
	)
	require.Equal(t, Stat{
		Czxid: 1, Ctime: 1000, Mzxid: 5, Mtime: 5000, Version: 1, Pzxid: 8,
		Cversion: 4, NumChildren: 2, DataLength: 3,
	}, tr.nodes["/p"].stat())
	require.Equal(t, Stat{
		Czxid: 3, Ctime: 3000, Mzxid: 7, Mtime: 7000, Version: 1, Pzxid: 3,
		EphemeralOwner: owner, DataLength: 3,
	}, tr.nodes["/p/b"].stat())
	require.Zero(t, tr.nodes["/p/c"].stat().EphemeralOwner)
}

// Where several things are wrong, the first check decides.
func TestCreateChecksInOrder(t *testing.T) {
	ttl := func(path string, flags int32, ttl int64) *createOp {
		return &createOp{pathOp{path}, OpCreateTTL, nil, openACL, flags, ttl}
	}
	acl := func(path string, acl ...ACL) *createOp {
		return &createOp{pathOp{path}, OpCreate, nil, acl, 0, 0}
	}
	tr := newTree()
	run(t, tr,
		step{create("/e", flagEphemeral), ok, "/e"},
		step{acl("/closed", ACL{permRead, anyone}), ok, "/closed"},
		step{create("nonsense", 7), ErrBadArguments, ""},
		step{create("/x", -1), ErrBadArguments, ""},
		step{ttl("/x", flagTTL, 0), ErrBadArguments, ""},
		step{ttl("/x", flagTTL, 1<<40), ErrBadArguments, ""},
		step{ttl("/x", 0, 5), ErrBadArguments, ""},
		step{create("x", 0), ErrBadArguments, ""},
		step{create("", 0), ErrBadArguments, ""},
		step{create("/missing/\x00", 0), ErrBadArguments, ""},
		step{acl("/missing/x"), ErrInvalidACL, ""},
		step{acl("/missing/x", ACL{permAll, ID{"digest", "nohash"}}), ErrInvalidACL, ""},
		step{acl("/missing/x", ACL{permAll, ID{"nobody", "x"}}), ErrInvalidACL, ""},
		step{acl("/missing/x", ACL{permAll, ID{"world", "x"}}), ErrInvalidACL, ""},
		step{acl("/missing/x", ACL{permAll, ID{"ip", "300.0.0.1"}}), ErrInvalidACL, ""},
		step{acl("/missing/x", ACL{permAll, ID{"ip", "10.0.0.0/8"}}), ErrNoNode, ""},
		step{create("/missing/..", 0), ErrNoNode, ""},
		step{create("!no/root", 0), ErrNoNode, ""},
		step{create("/closed/..", 0), ErrNoAuth, ""},
		step{create("/e/..", 0), ErrBadArguments, ""},
		step{create("/e/", 0), ErrBadArguments, ""},
		step{create("/e/x", 0), ErrNoChildrenForEphemerals, ""},
		step{create("/", 0), ErrNodeExists, ""},
		step{create("/e", 0), ErrNodeExists, ""},
	)
}

func TestDeleteAndSetChecksInOrder(t *testing.T) {
	tr := newTree()
	run(t, tr,
		step{create("/p", 0), ok, "/p"},
		step{create("/p/c", 0), ok, "/p/c"},
		step{remove("/", -1), ErrBadArguments, ""},
		step{remove("/zookeeper/quota", -1), ErrBadArguments, ""},
		step{remove("p", -1), ErrBadArguments, ""},
		step{remove("/missing/x", 3), ErrNoNode, ""},
		step{remove("/missing", 3), ErrNoNode, ""},
		step{remove("/p", 3), ErrBadVersion, ""},
		step{remove("/p", 0), ErrNotEmpty, ""},
		step{set("/p/", 3), ErrBadArguments, ""},
		step{set("/missing", 3), ErrNoNode, ""},
		step{set("/p", 3), ErrBadVersion, ""},
		step{&checkOp{pathOp{"/p"}, 3}, ErrBadVersion, ""},
		step{&checkOp{pathOp{"/p"}, 0}, ok, ""},
		step{remove("/p/c", 0), ok, ""},
		step{remove("/p", 0), ok, ""},
	)
}

func TestRollbackRestoresEverything(t *testing.T) {
	tr := newTree()
	run(t, tr, step{create("/p", 0), ok, "/p"}, step{create("/p/a", flagEphemeral), ok, "/p/a"})
	before, ephemerals := dump(tr), tr.ephemeralsOf(owner)
	tx := &txn{tree: tr, zxid: 9, now: 9000, session: owner, ttl: true}
	for _, w := range []write{
		set("/p", -1), remove("/p/a", -1), create("/p/s-", flagEphemeralSeq), create("/p/c", flagContainer),
		set("/p", -1), remove("/p/c", -1), create("/p/a", 0),
	} {
		require.Equal(t, ok, w.apply(tx, &encoder{}))
	}
	tx.rollback()
	require.Equal(t, before, dump(tr))
	require.Equal(t, ephemerals, tr.ephemeralsOf(owner))
	require.Empty(t, tr.reapable)
}

func TestTreeKeepsItsOwnCopyOfData(t *testing.T) {
	tr := newTree()
	op := create("/a", 0)
	run(t, tr, step{op, ok, "/a"})
	op.data[0] = 'X'
	require.Equal(t, "d", string(tr.nodes["/a"].data))
}

func TestOutdated(t *testing.T) {
	tr := newTree()
	run(t, tr,
		step{create("/unused", flagContainer), ok, "/unused"},
		step{create("/used", flagContainer), ok, "/used"},
		step{create("/full", flagContainer), ok, "/full"},
		step{create("/used/x", 0), ok, "/used/x"},
		step{create("/full/x", 0), ok, "/full/x"},
		step{remove("/used/x", -1), ok, ""},
		step{create("/ttl", flagTTL), ok, "/ttl"}, // at 7000, for 1000
	)
	require.Equal(t, []string{"/used"}, tr.outdated(8000))
	require.Equal(t, []string{"/ttl", "/used"}, tr.outdated(8001))
}

func TestValidPath(t *testing.T) {
	for _, path := range []string{"/", "/a", "/a/b", "/a.b", "/...", "/ä", "/a b", "/_c_x-lock-0000000001"} {
		require.True(t, validPath(path), "%q", path)
	}
	for _, path := range []string{
		"", "a", "a/b", "//", "/a/", "/a//b", "/.", "/..", "/a/./b", "/a/../b", "/\x00", "/\x01", "/\x1f",
		"/\x7f", "/\u009f", "/\ue000", "/\uf8ff", "/\ufff0", "/\U0001f600", "/\xff",
	} {
		require.False(t, validPath(path), "%q", path)
	}
}

func TestACLMatching(t *testing.T) {
	ip := []ID{{"ip", "10.1.2.3"}}
	for _, tc := range []struct {
		acl  ID
		want bool
	}{
		{anyone, true}, {ID{"ip", "10.1.2.3"}, true}, {ID{"ip", "10.1.2.4"}, false},
		{ID{"ip", "10.0.0.0/8"}, true}, {ID{"ip", "11.0.0.0/8"}, false}, {digestID("a:b"), false},
	} {
		require.Equal(t, tc.want, permitted([]ACL{{permRead, tc.acl}}, ip, permRead), "%v", tc.acl)
		require.False(t, permitted([]ACL{{permRead, tc.acl}}, ip, permWrite), "%v", tc.acl)
	}
	require.True(t, permitted(nil, nil, permAdmin), "no ACL at all is open")
}

func TestOpCoversItsVariants(t *testing.T) {
	for op, variants := range map[Op][]Op{
		OpCreate:      {OpCreate2, OpCreateContainer, OpCreateTTL},
		OpGetChildren: {OpGetChildren2},
		OpSetWatches:  {OpSetWatches2},
	} {
		for _, variant := range variants {
			require.True(t, op.covers(variant))
			require.False(t, variant.covers(op))
			require.True(t, variant.covers(variant))
			require.True(t, OpAny.covers(variant))
		}
	}
	require.False(t, OpAny.covers(OpPing))
	require.False(t, OpAny.covers(OpConnect))
}

func TestRequestLogForgetsTheOldest(t *testing.T) {
	srv := New(t)
	for i := range defaultLogSize + 3 {
		srv.log.add(Request{Xid: int32(i), Op: OpSync}, defaultLogSize)
	}
	log := srv.Requests()
	require.Len(t, log, defaultLogSize)
	require.EqualValues(t, 3, log[0].Xid)
	require.EqualValues(t, defaultLogSize+2, log[defaultLogSize-1].Xid)
	require.Equal(t, defaultLogSize+3, srv.CountRequests(OpSync))
}

func TestOpAndCodeHaveNames(t *testing.T) {
	require.Equal(t, "createContainer", OpCreateContainer.String())
	require.Equal(t, "op(77)", Op(77).String())
	require.Equal(t, "zktest: no node (-101)", ErrNoNode.Error())
	require.True(t, strings.HasPrefix(Code(-999).Error(), "zktest: unknown"))
	require.NoError(t, ok.err())
}
