package zkserver

import (
	"encoding/binary"
	"hash/adler32"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sequence is a node and the sequence number of its next sequential child.
type sequence struct {
	parent string
	next   int32
}

// WithSequence makes a persistent node at parent before the server starts.
// Every client may access it. The next sequential child of the node gets the
// number next, as if that many children had been created and deleted before.
// Use it to test the end of the sequence, 2^31-1, which is weeks of creates
// away. Missing nodes above parent are created, too. The option may be given
// several times, once for each node. The default is an empty tree.
//
// A server with a sequence is not shared: [Shared] and [Borrow] refuse it.
func WithSequence(parent string, next int32) Option {
	return func(c *config) { c.sequences = append(slices.Clip(c.sequences), sequence{parent, next}) }
}

// ZooKeeper has no request that sets the sequence number, which counts the children that
// were ever created. But each create in the transaction log contains the new count, and
// a server that starts takes the count from its log.

// Types of transactions, as in ZooKeeper's protocol.
const (
	txnCreate = 1
	txnDelete = 2
)

// txnLog is a transaction log in ZooKeeper's format.
type txnLog struct {
	bytes   []byte
	zxid    int64
	created map[string]bool // nodes created so far
}

func newTxnLog() *txnLog {
	const version, database = 2, 0
	l := &txnLog{bytes: []byte("ZKLG"), created: map[string]bool{"": true}}
	l.bytes = binary.BigEndian.AppendUint32(l.bytes, version)
	l.bytes = binary.BigEndian.AppendUint64(l.bytes, database)
	return l
}

// add appends a transaction with its checksum.
func (l *txnLog) add(kind uint32, body []byte) {
	const end = 'B'
	l.zxid++
	txn := make([]byte, 8+4, 64) // session and request number, both 0
	txn = binary.BigEndian.AppendUint64(txn, uint64(l.zxid))
	txn = binary.BigEndian.AppendUint64(txn, 0) // milliseconds since 1970
	txn = binary.BigEndian.AppendUint32(txn, kind)
	txn = append(txn, body...)
	l.bytes = binary.BigEndian.AppendUint64(l.bytes, uint64(adler32.Checksum(txn)))
	l.bytes = append(appendString(l.bytes, string(txn)), end)
}

// create adds a persistent node. The sequence number of the parent's next
// sequential child becomes next.
func (l *txnLog) create(node string, next int32) {
	const permAll, entries = 31, 1
	body := appendString(nil, node)
	body = appendString(body, "") // the data
	body = binary.BigEndian.AppendUint32(body, entries)
	body = binary.BigEndian.AppendUint32(body, permAll)
	body = appendString(body, "world")
	body = appendString(body, "anyone")
	body = append(body, 0) // not ephemeral
	l.add(txnCreate, binary.BigEndian.AppendUint32(body, uint32(next)))
}

// createAll adds a node and all missing nodes above it.
func (l *txnLog) createAll(node string) {
	const oneMore = -1 // the server adds one to the number before
	if l.created[node] {
		return
	}
	l.created[node] = true
	l.createAll(node[:strings.LastIndexByte(node, '/')])
	l.create(node, oneMore)
}

// sequence adds a node that looks as if it had had many children.
func (l *txnLog) sequence(s sequence) {
	l.createAll(s.parent)
	child := s.parent + "/zkserver"
	l.create(child, s.next)
	l.add(txnDelete, appendString(nil, child))
}

func appendString(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}

// createSequences writes the transaction log that the server starts with,
// unless there are no sequences.
func (l layout) createSequences(sequences []sequence) error {
	if len(sequences) == 0 {
		return nil
	}
	log := newTxnLog()
	for _, s := range sequences {
		log.sequence(s)
	}
	if err := os.MkdirAll(l.transactions(), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(l.transactions(), "log.1"), log.bytes, 0o600)
}
