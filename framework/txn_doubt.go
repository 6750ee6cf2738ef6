package framework

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"
)

// findOut returns the results if an earlier attempt has been applied, and nothing if none has.
func (t *txnAttempts) findOut(ctx context.Context, s *Session) ([]TxnResult, error) {
	probe := t.probe()
	op := &t.ops[probe]
	now, err := afterSync(ctx, s, t.client.full(op.path), getData)
	switch {
	case err != nil:
		return nil, err // a missing node, too, may have been deleted after our transaction
	case now.stat.Version == op.version:
		t.inDoubt = nil
		return nil, nil
	case now.stat.Version != op.version+1 || !bytes.Equal(now.data, op.data):
		return nil, unknownOutcome(fmt.Errorf("%s has version %d now", op.path, now.stat.Version))
	}
	return t.resultsSince(ctx, s, now.stat.Mzxid)
}

// probe returns the first operation whose node tells whether the transaction was applied, or -1.
func (t *txnAttempts) probe() int {
	return slices.IndexFunc(t.ops, func(op TxnOp) bool {
		return op.kind == txnSet && op.version != AnyVersion && t.writes(op.path) == 1
	})
}

// writes returns how many operations write a node.
func (t *txnAttempts) writes(path string) int {
	n := 0
	for _, op := range t.ops {
		if op.kind != txnCheck && op.path == path {
			n++
		}
	}
	return n
}

// resultsSince puts together the results of a transaction that was applied, by its zxid.
func (t *txnAttempts) resultsSince(ctx context.Context, s *Session, zxid int64) ([]TxnResult, error) {
	results := make([]TxnResult, len(t.ops))
	for i, op := range t.ops {
		results[i] = t.result(i, s, zxid)
		if op.kind == txnSet {
			stat, err := exists(ctx, s, t.client.full(op.path))
			if err != nil {
				return nil, err
			}
			results[i].Stat = stat
		}
		if reason := t.lost(op, results[i].Stat, s, zxid); reason != "" {
			return nil, unknownOutcome(fmt.Errorf("applied as transaction %#x, but %s %s", zxid, op.path, reason))
		}
	}
	return results, nil
}

// lost says why the result of an operation that was applied cannot be had any more.
func (t *txnAttempts) lost(op TxnOp, stat *zk.Stat, s *Session, zxid int64) string {
	switch {
	case op.kind == txnCreate && op.create.mode.sequential():
		return "has got a number that is not known"
	case op.kind == txnCreate && op.create.mode.ephemeral() && t.inDoubt != s:
		return "ends with a session that was lost"
	case op.kind == txnSet && t.writes(op.path) > 1:
		return "was written several times"
	case op.kind == txnSet && (stat == nil || stat.Mzxid != zxid):
		return "has changed since"
	}
	return ""
}

// reserve makes plain ephemeral nodes of this transaction wait for other callers of the client that make the same; see
// ephemerals. The paths are in order, so that two transactions do not wait for each other.
func (t *txnAttempts) reserve(ctx context.Context) error {
	var paths []string
	for _, op := range t.ops {
		if op.kind == txnCreate && op.create.recognisedByOwner() {
			paths = append(paths, t.client.full(op.path))
		}
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		r, err := t.client.reserve(ctx, path)
		if err != nil {
			t.release(0)
			return err
		}
		t.reserved = append(t.reserved, r)
	}
	return nil
}

// settle ends the reservations as soon as it is known what has become of the nodes.
func (t *txnAttempts) settle(results []TxnResult, err error) {
	switch {
	case err == nil:
		t.release(results[0].Zxid)
	case t.inDoubt == nil && !ambiguous(err):
		t.release(0)
	default:
		for _, r := range t.reserved {
			t.client.settleInBackground(r, t.sentIn)
		}
	}
}

func (t *txnAttempts) release(zxid int64) {
	for _, r := range t.reserved {
		r.release(zxid)
	}
}
