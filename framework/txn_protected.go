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
	t.made, err = t.resultsSince(s, stat.Czxid, found)
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

// resultsSince reconstructs the results of an applied transaction from its zxid and the
// paths of its protected nodes.
func (t *txn) resultsSince(s *Session, zxid int64, found []string) ([]TxnResult, error) {
	results := make([]TxnResult, len(t.ops))
	for i, op := range t.ops {
		results[i] = t.result(i, s, zxid)
		if op.create.protected {
			results[i].Path = op.view.local(found[i])
		}
		if why := t.resultLost(op, found[i], s); why != nil {
			return nil, unknownOutcome(fmt.Errorf("applied as transaction %#x, but %s %w", zxid, op.path, why))
		}
		t.noteDeleted(s, op)
	}
	return results, nil
}

// resultLost returns the reason why the result of an applied operation cannot be
// reconstructed, or nil. The path is where its protected node was found.
func (t *txn) resultLost(op TxnOp, path string, s *Session) error {
	switch {
	case op.create.protected && path == "":
		return fmt.Errorf("is gone: %w", zk.ErrNoNode)
	case op.create.mode.sequential() && !op.create.protected:
		return errors.New("has got a number that is not known")
	case op.create.mode.ephemeral() && t.write.doubt != s:
		return errors.New("may end with a session that was lost")
	case op.kind == txnSet || op.asSet:
		return errors.New("has got a Stat that is not known")
	}
	return nil
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
// get them. With results, deleteProtected knows the names of the nodes. Without results, it
// deletes by id, if the session may have created the nodes.
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
