package datatree

import "github.com/gocurator/curator/testing/zktest/internal/wire"

// configPath is the node that holds the configuration of an ensemble.
const configPath = "/zookeeper/config"

// SetConfig replaces the data of the config node.
func (tx *Txn) SetConfig(text []byte) (wire.Stat, wire.Code) {
	n := tx.Tree.nodes[configPath]
	if !tx.allows(n, wire.PermWrite) {
		return wire.Stat{}, wire.ErrNoAuth
	}
	tx.record(wire.EventDataChanged, configPath, n, tx.Tree.setConfig(text, tx.Zxid, tx.Now))
	return n.Stat(), wire.OK
}

// InitConfig sets the data of the config node outside of any transaction. Each
// member of a new ensemble does so by itself.
func (t *Tree) InitConfig(text []byte, zxid, now int64) {
	t.nodes[configPath].setConfig(text, zxid, now)
}

// setConfig replaces the data of the config node, and returns how to undo it.
func (t *Tree) setConfig(text []byte, zxid, now int64) (undo func()) {
	n := t.nodes[configPath]
	old := *n
	n.setConfig(text, zxid, now)
	if t.Recording {
		t.record(func(t *Tree) { t.setConfig(text, zxid, now) })
	}
	return func() {
		n.Data, n.Mzxid, n.Mtime, n.Version = old.Data, old.Mzxid, old.Mtime, old.Version
	}
}

// setConfig makes the node one with that configuration. Its version is -1 for
// ever.
func (n *Node) setConfig(text []byte, zxid, now int64) {
	n.Data, n.Mzxid, n.Mtime, n.Version = text, zxid, now, -1
}
