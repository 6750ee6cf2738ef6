package datatree

import (
	"errors"
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
		require.NoError(t, tr.verify())
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

// verify returns an error if the tree contradicts itself.
func (t *Tree) verify() error {
	children, reapable, ephemerals := 0, 0, 0
	for path, n := range t.nodes {
		children += len(n.Children)
		if _, known := t.nodes[ParentOf(path)].Children[baseOf(path)]; !known && path != "/" {
			return errors.New(path + " is unknown to its parent")
		}
		if n.Kind == Container || n.Kind == TTLNode {
			reapable++
		}
		if n.Kind == Ephemeral {
			ephemerals++
		}
	}
	for _, paths := range t.ephemerals {
		ephemerals -= len(paths)
	}
	if children != len(t.nodes)-1 || reapable != len(t.reapable) || ephemerals != 0 {
		return errors.New("the tree counts wrong")
	}
	return nil
}
