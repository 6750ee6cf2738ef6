package framework

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
)

// resolve finds out by one node whether the transaction was applied. It is an
// error if the node is missing: it may have been deleted after our transaction.
func (t *txn) resolve(ctx context.Context, s *Session) ([]TxnResult, bool, error) {
	if t.protected != nil {
		return t.resolveProtected(ctx, s)
	}
	op := &t.ops[t.witness()]
	path := t.client.full(op.path)
	now, err := afterQuorum(ctx, s, proto.GetData(path, false))
	switch {
	case err != nil:
		return nil, false, err
	case now.Stat.Version == op.version && t.write.existed(now.Stat):
		return nil, false, nil
	case now.Stat.Version == op.version:
		return nil, false, unknownOutcome(fmt.Errorf("%s: %w", op.path, errAnew))
	case now.Stat.Version != op.version+1 || !bytes.Equal(now.Data, op.data):
		return nil, false, unknownOutcome(fmt.Errorf("%s has version %d now", op.path, now.Stat.Version))
	}
	results, err := t.resultsSince(ctx, s, now.Stat.Mzxid, nil)
	return results, err == nil, err
}

// witness returns the first operation whose node tells whether the transaction
// was applied, or -1.
func (t *txn) witness() int {
	return slices.IndexFunc(t.ops, func(op TxnOp) bool {
		return op.kind == txnSet && op.version != AnyVersion && t.writes(op.path) == 1
	})
}

// writes returns how many operations write a node.
func (t *txn) writes(path string) int {
	n := 0
	for _, op := range t.ops {
		if op.kind != txnCheck && op.path == path {
			n++
		}
	}
	return n
}

// resultsSince puts together the results of a transaction that was applied, by
// its zxid, and the paths at which the protected nodes of its operations were
// found.
func (t *txn) resultsSince(ctx context.Context, s *Session, zxid int64, found []string) ([]TxnResult, error) {
	results := make([]TxnResult, len(t.ops))
	for i, op := range t.ops {
		results[i] = t.result(i, s, zxid)
		path := t.client.full(op.path)
		if op.create.protected {
			path = found[i]
			results[i].Path = t.client.local(path)
		}
		if op.kind == txnSet {
			stat, err := send(ctx, s, proto.Exists(t.client.full(op.path), false), nil)
			if err != nil {
				return nil, err
			}
			results[i].Stat = (*zk.Stat)(stat)
		}
		if reason := t.resultLost(op, path, results[i].Stat, s, zxid); reason != "" {
			err := fmt.Errorf("applied as transaction %#x, but %s %s", zxid, op.path, reason)
			if path == "" {
				err = fmt.Errorf("%w: %w", err, zk.ErrNoNode)
			}
			return nil, unknownOutcome(err)
		}
		t.noteEphemeral(s, op, path)
	}
	return results, nil
}

// resultLost says why the result of an operation that was applied cannot be had
// any more. The path is where its node was found.
func (t *txn) resultLost(op TxnOp, path string, stat *zk.Stat, s *Session, zxid int64) string {
	switch {
	case op.create.protected && path == "":
		return "is gone"
	case op.kind == txnCreate && op.create.mode.sequential() && !op.create.protected:
		return "has got a number that is not known"
	case op.kind == txnCreate && op.create.mode.ephemeral() && (t.write.doubt != s || t.write.late):
		return "may end with a session that was lost"
	case op.kind == txnSet && t.writes(op.path) > 1:
		return "was written several times"
	case op.kind == txnSet && (stat == nil || stat.Mzxid != zxid):
		return "has changed since"
	}
	return ""
}

// reserve makes plain ephemeral nodes of this transaction wait for other
// callers of the client that make the same; see reservations. The paths are in
// order, so that two transactions do not wait for each other. After an error or a
// panic, end gives back what was reserved.
func (t *txn) reserve(ctx context.Context) error {
	var paths []string
	for _, op := range t.ops {
		if op.kind == txnCreate && op.create.isRecognisedByOwner() {
			paths = append(paths, t.client.full(op.path))
		}
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		r, err := t.client.reserve(ctx, path)
		if err != nil {
			return err
		}
		t.reserved = append(t.reserved, r)
	}
	return nil
}

// endReservations ends the reservations as soon as it is known what has become
// of the nodes. After a panic that is in doubt if anything was sent.
func (t *txn) endReservations(results []TxnResult, err error) {
	switch {
	case err == nil:
		t.release(results[0].Zxid)
	case t.sentIn == nil, t.write.doubt == nil && !ambiguous(err):
		t.release(0)
	default:
		for _, r := range t.reserved {
			t.client.resolveInBackground(r, t.sentIn)
		}
	}
}

func (t *txn) release(zxid int64) {
	for _, r := range t.reserved {
		r.release(zxid)
	}
}
