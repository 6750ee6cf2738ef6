package framework

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// protect gives a random id to the node of each protected create.
func (t *txn) protect() {
	for i, op := range t.ops {
		if op.kind == txnCreate && op.create.protected {
			if t.protected == nil {
				t.protected = make([]*protectedNode, len(t.ops))
			}
			parent, _ := znode.Split(op.full())
			t.protected[i] = &protectedNode{parent: parent, guid: znode.GUID()}
		}
	}
}

// target returns the path in the request.
func (t *txn) target(i int) string {
	path := t.ops[i].full()
	if t.protected == nil || t.protected[i] == nil {
		return path
	}
	_, name := znode.Split(path)
	return t.protected[i].path(name)
}

// errMayCome is the reason why the outcome of a lost session's transaction is unknown
// if a later session does not find its nodes.
var errMayCome = errors.New("the session was lost, and the servers may still apply it")

// resolve finds out by the protected nodes whether the transaction was applied.
func (t *txn) resolve(ctx context.Context, s *Session) ([]TxnResult, bool, error) {
	found, err := t.findProtected(ctx, s)
	one := slices.IndexFunc(found, func(path string) bool { return path != "" })
	switch {
	case err != nil:
		return nil, false, err
	case one < 0 && t.write.doubt != s:
		return nil, false, unknownOutcome(errMayCome)
	case one < 0:
		return nil, false, nil
	}
	stat, err := send(ctx, s, proto.Exists(found[one], false), nil)
	switch {
	case err != nil:
		return nil, false, err
	case stat == nil: // another client has deleted the node since; check which are left
		return t.resolve(ctx, s)
	}
	t.made, err = t.resultsSince(ctx, s, stat.Czxid, found)
	return t.made, err == nil, err
}

// findProtected returns the paths of the existing protected nodes, for each operation.
// If a server has applied the transaction twice, findProtected returns the first nodes
// of all operations, which the same transaction has created.
func (t *txn) findProtected(ctx context.Context, s *Session) ([]string, error) {
	paths, found := make([]string, len(t.ops)), foundNodes{}
	for i, n := range t.protected {
		if n == nil {
			continue
		}
		names, err := found.of(ctx, s, n.parent, n.guid)
		if err != nil {
			return nil, err
		}
		paths[i] = t.client.firstOf(n.parent, names)
	}
	return paths, nil
}

// writes returns how many operations write a node.
func (t *txn) writes(path string) int {
	n := 0
	for _, op := range t.ops {
		if op.kind != txnCheck && op.full() == path {
			n++
		}
	}
	return n
}

// resultsSince reconstructs the results of an applied transaction from its zxid and the
// paths of its protected nodes.
func (t *txn) resultsSince(ctx context.Context, s *Session, zxid int64, found []string) ([]TxnResult, error) {
	results := make([]TxnResult, len(t.ops))
	for i, op := range t.ops {
		results[i] = t.result(i, s, zxid)
		path := op.full()
		if op.create.protected {
			path = found[i]
			results[i].Path = op.view.local(path)
		}
		if op.sets() {
			stat, err := send(ctx, s, proto.Exists(op.full(), false), nil)
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

// resultLost returns the reason why the result of an applied operation can no longer be
// reconstructed. The path is where its node was found.
func (t *txn) resultLost(op TxnOp, path string, stat *zk.Stat, s *Session, zxid int64) string {
	switch {
	case op.create.protected && path == "":
		return "is gone"
	case op.kind == txnCreate && op.create.mode.sequential() && !op.create.protected:
		return "has got a number that is not known"
	case op.kind == txnCreate && op.create.mode.ephemeral() && t.write.doubt != s:
		return "may end with a session that was lost"
	case op.sets() && t.writes(path) > 1:
		return "was written several times"
	case op.sets() && (stat == nil || stat.Mzxid != zxid):
		return "has changed since"
	}
	return ""
}

// abandon records that the caller gives up before the answer names the protected nodes.
func (t *txn) abandon() {
	t.abandoned = true
	for _, n := range t.protected {
		if n != nil {
			t.client.givenUp.add(n)
		}
	}
}

// end deletes the protected nodes that the last attempt has left behind, unless late
// will.
func (t *txn) end(err error) {
	if t.abandoned {
		return
	}
	if s := t.write.doubt; s != nil {
		t.deleteProtected(s, t.made, unknownOutcome(err))
		return
	}
	t.deleteProtected(t.sentIn, t.made, err)
}

// deleteProtected deletes the protected nodes of a transaction whose caller does not
// get them. If there are results, it deletes the nodes by name; otherwise, if the error
// leaves open whether the session has created them, by id.
func (t *txn) deleteProtected(s *Session, results []TxnResult, err error) {
	var failed *TxnError
	for i, n := range t.protected {
		switch {
		case n == nil:
			continue
		case results != nil:
			t.client.deleteInBackground(t.ops[i].view.full(results[i].Path))
		case s != nil && ambiguous(err) && !reason.As(err, &failed):
			t.client.deleteMaybeMade(n.parent, n.guid, s, t.ops[i].create.mode)
		}
		t.client.givenUp.remove(n)
	}
}
