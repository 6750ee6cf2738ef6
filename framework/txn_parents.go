package framework

import (
	"context"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// attempt makes one attempt. The servers refuse a transaction for one parent at a
// time. So the client makes those of the operations behind that one, too, if they
// are missing. A transaction below new paths is sent twice then.
func (t *txn) attempt(ctx context.Context, s *Session) ([]TxnResult, error) {
	results, err := t.write.request(ctx, s)
	for tries := map[string]int{}; ; {
		op := t.withoutParent(err)
		if op < 0 || tries[t.parentOf(op)] == maxVanished {
			return results, err
		}
		tries[t.parentOf(op)]++
		if made := t.createParents(ctx, s, op); made != nil && !reason.Is(made, zk.ErrNoNode) {
			return nil, made
		}
		results, err = t.write.request(ctx, s)
	}
}

// withoutParent returns the operation that has failed for the lack of a parent which
// the client may create, or -1.
func (t *txn) withoutParent(err error) int {
	var failed *TxnError
	if !reason.As(err, &failed) || !reason.Is(err, zk.ErrNoNode) || !t.mayMakeParent(failed.Index) {
		return -1
	}
	return failed.Index
}

func (t *txn) mayMakeParent(op int) bool {
	return t.ops[op].kind == txnCreate && t.client.mayMakeParent(t.parentOf(op), &t.ops[op].create)
}

func (t *txn) parentOf(op int) string {
	parent, _ := znode.Split(t.client.full(t.ops[op].path))
	return parent
}

// createParents creates what is missing above the node of an operation, and above
// those of the operations behind it. It leaves out the parents that the transaction
// makes by itself. It ends where none is missing, because each costs a request, and
// before an operation that creates nothing: that may be the check of a lock that is
// lost. An error that is about a later operation is left to the next attempt, which
// may fail before that.
func (t *txn) createParents(ctx context.Context, s *Session, op int) error {
	known := map[string]bool{}
	if _, err := t.client.createParents(ctx, s, t.parentOf(op), &t.ops[op].create, known); err != nil {
		return err
	}
	for i := op + 1; i < len(t.ops) && t.ops[i].kind == txnCreate; i++ {
		parent := t.parentOf(i)
		if !t.mayMakeParent(i) || known[parent] || t.makes(parent, i) {
			continue
		}
		missed, err := t.client.createParents(ctx, s, parent, &t.ops[i].create, known)
		if !missed || err != nil {
			break
		}
	}
	return nil
}

// makes reports whether an operation before the one with this number creates a
// node.
func (t *txn) makes(path string, before int) bool {
	return slices.ContainsFunc(t.ops[:before], func(op TxnOp) bool {
		return op.kind == txnCreate && t.client.full(op.path) == path
	})
}
