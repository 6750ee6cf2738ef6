package framework

import (
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/jute"
)

// txnAnswer is the server's answer to a multi: a part for each operation, or the first that failed.
type txnAnswer struct {
	parts  []txnPart
	zxid   int64
	failed int // -1 if none
	code   int32
}

type txnPart struct {
	path string
	stat *zk.Stat
}

// opError is the type of a part that is an error's code, and the type that ends a multi.
const opError = -1

// request encodes the transaction. Each part is a request of its own behind a header that says which.
func (t *txnAttempts) request() (request[txnAnswer], error) {
	parts := make([]func([]byte) []byte, len(t.ops))
	kinds := make([]int32, len(t.ops))
	for i, op := range t.ops {
		var err error
		if kinds[i], parts[i], err = t.part(op); err != nil {
			return request[txnAnswer]{}, t.failed(i, err)
		}
	}
	return request[txnAnswer]{opMulti, func(b []byte) []byte {
		for i, part := range parts {
			b = part(appendMultiHeader(b, kinds[i], false))
		}
		return appendMultiHeader(b, opError, true)
	}, readTxnAnswer}, nil
}

func (t *txnAttempts) part(op TxnOp) (kind int32, payload func([]byte) []byte, err error) {
	path := t.client.full(op.path)
	versioned := func(b []byte) []byte { return appendVersioned(b, path, op.version) }
	switch op.kind {
	case txnSet:
		return opSetData, func(b []byte) []byte { return appendSetData(b, path, op.data, op.version) }, nil
	case txnDelete:
		return opDelete, versioned, nil
	case txnCheck:
		return opCheck, versioned, nil
	}
	acl, err := t.client.aclFor(path, op.create.acl.list)
	n := newNode{path, op.data, acl, op.create.mode, op.create.ttl}
	return n.mode.op(), n.append, err
}

func appendMultiHeader(b []byte, kind int32, done bool) []byte {
	last := byte(0)
	if done {
		last = 1
	}
	const noError = -1
	return jute.AppendInt32(append(jute.AppendInt32(b, kind), last), noError)
}

// readTxnAnswer reads a part for each operation. In those of a transaction that failed there is an error for each: none
// for those that were rolled back, then that of the one that failed, and one code for all that were not attempted.
func readTxnAnswer(r *jute.Reader, zxid int64) txnAnswer {
	a := txnAnswer{zxid: zxid, failed: -1}
	for i := 0; !r.Bad(); i++ {
		kind, done := r.Int32(), r.Bool()
		r.Int32() // an error code, which for a part that is an error is repeated behind the header
		if done {
			return a
		}
		var part txnPart
		switch kind {
		case opCreate:
			part.path = r.String()
		case opCreate2: // also for containers and nodes with a TTL, on servers that know better
			part.path, part.stat = r.String(), readStat(r)
		case opSetData:
			part.stat = readStat(r)
		case opError:
			if code := r.Int32(); code != 0 && a.failed < 0 {
				a.failed, a.code = i, code
			}
		}
		a.parts = append(a.parts, part)
	}
	return a
}
