package framework

import (
	"cmp"
	"context"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/once"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// Transaction carries out all operations or none, in order. Each operation sees the
// effects of earlier ones. Transaction returns the results in the same order. Without
// operations, it does nothing and returns nil.
//
// If the server or the client refuses an operation, the error wraps a *TxnError that
// names the operation, and matches the operation's error, such as zk.ErrBadVersion. The
// path of the *OpError is the first operation's path.
//
// All operations together must fit into one request; see ErrRequestTooLarge. Before the
// transaction, the client creates missing parents of a CreateOp WithParents, and
// missing nodes of the view's own chroot and namespace, if an operation creates a node
// right below them. These nodes stay if the transaction fails.
//
// If the reply is lost, the operations decide what follows, in the same session or
// in a new one:
//
//   - A transaction that only checks is repeated.
//   - A transaction of checks, and of SetOps, DeleteOps and CreateOps WithOverwrite of
//     AnyVersion, is repeated, like Set and Delete of AnyVersion. If the repeated
//     transaction is refused, the error also matches ErrOutcomeUnknown, because the first
//     attempt may be the reason. So a lost reply to a write with a lease's Checks is
//     handled like a lost reply to a plain write.
//   - A transaction with a CreateOp WithProtection is looked up by the names of its
//     protected nodes. The transaction was applied if one of these nodes exists. If
//     none exists and the session is the same, the transaction was not applied, and is
//     repeated. (It is also repeated if another client has deleted all these nodes.)
//   - For every other transaction, the error matches ErrOutcomeUnknown.
//
// If the protected nodes show that a transaction was applied, it counts as done only if
// its results can be reconstructed:
//
//   - All protected nodes exist.
//   - No other operation is a sequential create, or writes a node that existed.
//   - Ephemeral nodes belong to the present session.
//
// The error also matches ErrOutcomeUnknown if ctx ends while the reply is awaited. If
// the call fails, the client deletes protected nodes that the transaction may have
// created, in the background. It does not undo other operations.
func (c *Client) Transaction(ctx context.Context, ops ...TxnOp) (results []TxnResult, err error) {
	if len(ops) == 0 {
		return nil, nil
	}
	t := newTxn(c, ops)
	if t.isRepeatable() && !once.IsAsked(ctx) {
		t.write.onLostReply = sendAgain
	}
	if err := t.validate(); err != nil {
		return nil, &OpError{"transaction", ops[0].path, err}
	}
	defer func() {
		if results == nil { // without an error, a hook has panicked
			t.end(cmp.Or(err, ErrOutcomeUnknown))
		}
	}()
	return t.write.do(ctx, c, "transaction", ops[0].path)
}

// txn is the state of one Transaction: its operations, and the results of its attempts.
type txn struct {
	client *Client
	ops    []TxnOp
	write  write[*txn, []TxnResult]
	sentIn *Session // the session of the last attempt; nil if none was sent

	protected []*protectedNode // the node of each protected create, and nil for other operations; nil if there is none
	made      []TxnResult      // the results; nil until known
	abandoned bool             // the caller has given up, and late gets the answer
}

func newTxn(c *Client, ops []TxnOp) *txn {
	t := &txn{client: c, ops: slices.Clone(ops)}
	for i := range t.ops {
		op := &t.ops[i]
		op.view = cmp.Or(op.view, c)
		op.asSet = op.create.orSet && op.full() == "/" // which always exists
	}
	t.protect()
	t.write = write[*txn, []TxnResult]{of: t, send: (*txn).send, resolve: (*txn).resolve, attempt: (*txn).attempt}
	switch {
	case t.onlyChecks():
		t.write.onLostReply = changesNothing
	case t.protected != nil:
		t.write.onLostReply = lookUp
	}
	return t
}

func (t *txn) validate() error {
	for i, op := range t.ops {
		err := op.validate()
		if op.view.core != t.client.core {
			err = badArgument("view", "of TxnOp.In", "must be of the client that carries the transaction out")
		}
		if err != nil {
			return t.failed(i, err)
		}
	}
	return nil
}

// failed returns the error of a transaction whose i-th operation has failed.
func (t *txn) failed(i int, err error) *TxnError {
	results := make([]TxnResult, len(t.ops))
	for j, op := range t.ops {
		results[j] = TxnResult{Op: op.name(), Path: op.path, Err: ErrRolledBack}
		if j > i {
			results[j].Err = ErrNotAttempted
		}
	}
	results[i].Err = err
	return &TxnError{i, results[i].Op, t.ops[i].path, err, results}
}

// attempt makes one attempt. If the transaction is refused because of a missing parent
// that the client may create, the client creates all such parents before the next try.
// So a transaction below new paths is sent twice.
func (t *txn) attempt(ctx context.Context, s *Session) ([]TxnResult, error) {
	results, err := t.write.request(ctx, s)
	for tries := 0; tries < maxVanished+len(t.ops); tries++ {
		var failed *TxnError
		switch {
		case !reason.As(err, &failed):
			return results, err
		case t.overwritesInstead(failed):
		case reason.Is(err, zk.ErrNoNode) && t.mayMakeParent(failed.Index):
			if made := t.createParents(ctx, s); made != nil && !reason.Is(made, zk.ErrNoNode) {
				return nil, made
			}
		default:
			return results, err
		}
		results, err = t.write.request(ctx, s)
	}
	return results, err
}

// overwritesInstead reports whether the failed operation is a create WithOverwrite that
// has found a node unexpectedly, or not found one. The next try then sets the node, or
// creates it.
func (t *txn) overwritesInstead(failed *TxnError) bool {
	op := &t.ops[failed.Index]
	other := zk.ErrNodeExists
	if op.asSet {
		other = zk.ErrNoNode
	}
	if !op.create.orSet || !reason.Is(failed.Err, other) {
		return false
	}
	op.asSet = !op.asSet
	return true
}

// mayMakeParent reports whether the client may create the parent of an operation's
// node. It returns false for a parent that the transaction itself creates.
func (t *txn) mayMakeParent(i int) bool {
	op := &t.ops[i]
	return op.kind == txnCreate && op.view.mayMakeParent(t.parentOf(i), &op.create) &&
		!slices.ContainsFunc(t.ops[:i], func(op TxnOp) bool {
			hasOtherName := op.create.protected || op.create.mode.sequential()
			return op.kind == txnCreate && !hasOtherName && op.full() == t.parentOf(i)
		})
}

func (t *txn) parentOf(i int) string {
	parent, _ := znode.Split(t.ops[i].full())
	return parent
}

// createParents creates the missing parents of the nodes that the transaction creates.
func (t *txn) createParents(ctx context.Context, s *Session) error {
	known := map[string]bool{}
	for i := range t.ops {
		if !t.mayMakeParent(i) {
			continue
		}
		err := t.ops[i].view.createParents(ctx, s, t.parentOf(i), &t.ops[i].create, known)
		switch {
		case IsRefusal(err):
			return t.failed(i, err)
		case err != nil:
			return err
		}
	}
	return nil
}

func (t *txn) send(ctx context.Context, s *Session) ([]TxnResult, error) {
	parts := make([]proto.Part, len(t.ops))
	for i, op := range t.ops {
		var err error
		if parts[i], err = op.part(t.client, t.target(i)); err != nil {
			return nil, t.failed(i, err)
		}
	}
	t.sentIn = s
	answer, err := send(ctx, s, proto.Multi(parts...), t.late(s))
	if t.protected != nil && abandoned(ctx, err) {
		t.abandon()
		return nil, unknownOutcome(err)
	}
	if err != nil {
		return nil, err
	}
	t.made, err = t.results(s, answer)
	return t.made, err
}

// part returns the operation as a part of a request. The path is the server's.
func (op *TxnOp) part(c *Client, path string) (proto.Part, error) {
	switch {
	case op.asSet:
		return proto.SetData(path, op.data, op.create.orVersion).Part(), nil
	case op.kind == txnSet:
		return proto.SetData(path, op.data, op.version).Part(), nil
	case op.kind == txnDelete:
		return proto.Delete(path, op.version).Part(), nil
	case op.kind == txnCheck:
		return proto.Check(path, op.version).Part(), nil
	}
	acl, err := c.aclFor(path, op.create.acl.list)
	return proto.Create(newNode(path, op.data, acl, &op.create)).Part(), err
}

// results turns the server's answer into TxnResults.
func (t *txn) results(s *Session, answer proto.MultiAnswer) ([]TxnResult, error) {
	switch {
	case answer.Failed >= 0 && answer.Failed < len(t.ops):
		return nil, t.failed(answer.Failed, errorOf(answer.Code))
	case answer.Failed >= 0 || len(answer.Parts) != len(t.ops):
		return nil, unknownOutcome(errMalformedAnswer)
	}
	results := make([]TxnResult, len(t.ops))
	for i, part := range answer.Parts {
		results[i] = t.result(i, s, answer.Zxid)
		results[i].Stat = part.Stat
		if t.ops[i].kind == txnCreate && !t.ops[i].asSet {
			results[i].Path, results[i].Stat = t.ops[i].view.local(part.Path), nil
		}
		t.noteDeleted(s, t.ops[i])
	}
	return results, nil
}

// noteDeleted records that an applied operation has deleted its node.
func (t *txn) noteDeleted(s *Session, op TxnOp) {
	if op.kind == txnDelete {
		s.kept.remove(op.full())
	}
}

// late gets the answer to a transaction whose caller has given up.
func (t *txn) late(s *Session) func(proto.MultiAnswer, error) {
	if t.protected == nil {
		return nil
	}
	return func(answer proto.MultiAnswer, err error) {
		var results []TxnResult
		if err == nil {
			results, err = t.results(s, answer)
		}
		t.deleteProtected(s, results, err)
	}
}

// result returns the fields that do not depend on the server's answer.
func (t *txn) result(i int, s *Session, zxid int64) TxnResult {
	if t.onlyChecks() {
		zxid = 0
	}
	return TxnResult{Op: t.ops[i].name(), Path: t.ops[i].path, Zxid: zxid, Session: s}
}

func (t *txn) onlyChecks() bool {
	return !slices.ContainsFunc(t.ops, func(op TxnOp) bool { return op.kind != txnCheck })
}

// isRepeatable reports whether applying the transaction twice does no more harm than
// repeating a Set or Delete of AnyVersion.
func (t *txn) isRepeatable() bool {
	return !t.onlyChecks() && !slices.ContainsFunc(t.ops, func(op TxnOp) bool {
		if op.kind == txnCreate {
			return !op.create.orSet || op.create.orVersion != AnyVersion
		}
		return op.kind != txnCheck && op.version != AnyVersion
	})
}
