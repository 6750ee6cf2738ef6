package framework

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"
)

// TxnOp is one operation of a Transaction. CreateOp, SetOp, DeleteOp and CheckOp make it.
type TxnOp struct {
	kind    txnKind
	path    string // the client's
	data    []byte
	version int32
	create  createOptions
	fault   error // of its options
}

type txnKind string

const (
	txnCreate txnKind = "create"
	txnSet    txnKind = "set"
	txnDelete txnKind = "delete"
	txnCheck  txnKind = "check"
)

// CreateOp creates a node in a transaction. WithMode, in every mode, WithTTL and WithACL are what they are for Create. The
// other options take more than one request, and make the transaction fail with zk.ErrBadArguments.
func CreateOp(path string, data []byte, opts ...CreateOption) TxnOp {
	op := TxnOp{kind: txnCreate, path: path, data: data}
	op.fault = apply(&op.create, opts)
	return op
}

// SetOp writes a node's data in a transaction, if the node has the given version. AnyVersion always matches.
func SetOp(path string, data []byte, version int32) TxnOp {
	return TxnOp{kind: txnSet, path: path, data: data, version: version}
}

// DeleteOp deletes a node without children in a transaction, if the node has the given version. AnyVersion always
// matches.
func DeleteOp(path string, version int32) TxnOp {
	return TxnOp{kind: txnDelete, path: path, version: version}
}

// CheckOp makes a transaction depend on a node that exists and has the given version. AnyVersion always matches.
func CheckOp(path string, version int32) TxnOp {
	return TxnOp{kind: txnCheck, path: path, version: version}
}

// TxnResult says what has become of one operation of a Transaction.
type TxnResult struct {
	Op   string   // "create", "set", "delete" or "check"
	Path string   // as the client names it; of a created node with the sequence number, if it has one
	Stat *zk.Stat // of a set, else nil

	// Zxid is the id of the transaction, which all its operations share: the Czxid of the nodes that were created, and
	// the Mzxid of those that were set. It is 0 if the transaction only checks.
	Zxid int64

	// Session is the one in which the transaction was carried out, and with which its ephemeral nodes end.
	Session *Session

	// Err is nil, but in a TxnError. There it is the error of the operation that failed, ErrRolledBack of those before it,
	// and ErrNotAttempted of those behind it.
	Err error
}

// These are the errors, in a TxnError, of operations that did not fail themselves.
var (
	ErrRolledBack   = errors.New("rolled back")
	ErrNotAttempted = errors.New("not attempted")
)

// TxnError says which operation made a transaction fail. errors.Is finds the operation's error in it. Nothing of the
// transaction was applied.
type TxnError struct {
	Index   int // of the operation that failed, from 0
	Op      string
	Path    string
	Err     error
	Results []TxnResult // of every operation, in order
}

// Error returns a text such as: operation 2 of 3, set /a: zk: version conflict.
func (e *TxnError) Error() string {
	return fmt.Sprintf("operation %d of %d, %s %s: %v", e.Index+1, len(e.Results), e.Op, e.Path, e.Err)
}

// Unwrap returns Err.
func (e *TxnError) Unwrap() error { return e.Err }

// Transaction carries out all operations or none, in order; each sees what those before it have done. It returns their
// results in the same order. Without any operations it does nothing and succeeds.
//
// If the server or the client refuses an operation, the error holds a *TxnError that names it, and errors.Is finds the
// operation's error in it, such as zk.ErrBadVersion. The path of the *OpError is the first operation's. All operations
// together must fit into one request; see ErrRequestTooLarge. What is missing of the view's own chroot and namespace is
// created if an operation creates a node right below it, before the transaction and not in it.
//
// What happens if the connection breaks while the reply is awaited, be it in the same session or in a new one:
//
//   - A transaction that only checks is repeated.
//   - One with a SetOp with a version is looked up by that, if no other operation but checks is about the same node: it
//     was not applied, and is repeated, if the node still has the old version. It was applied if the node has the next
//     version and this data. It counts as done then, if the results can be had: if the nodes of the other SetOps have
//     not been written since, if no operation is a sequential create, and if ephemeral nodes are of the present session.
//     As with Set, two who write the same data over the same version are not told apart.
//   - Otherwise, and if ctx ends while the reply is awaited, the error matches ErrOutcomeUnknown.
func (c *Client) Transaction(ctx context.Context, ops ...TxnOp) ([]TxnResult, error) {
	if len(ops) == 0 {
		return nil, nil
	}
	t := txnAttempts{client: c, ops: slices.Clone(ops)}
	if err := t.validate(); err != nil {
		return nil, &OpError{"transaction", ops[0].path, err}
	}
	if err := t.reserve(ctx); err != nil {
		return nil, &OpError{"transaction", ops[0].path, err}
	}
	var results []TxnResult
	err := c.write(ctx, "transaction", ops[0].path, func(error) bool { return t.inDoubt != nil }, func(ctx context.Context, s *Session) (err error) {
		results, err = t.attempt(ctx, s)
		return err
	})
	t.settle(results, err)
	return results, err
}

// txnAttempts are the attempts at one Transaction.
type txnAttempts struct {
	client   *Client
	ops      []TxnOp
	sentIn   *Session       // the last attempt's
	inDoubt  *Session       // an earlier attempt in this session may have been applied
	reserved []*reservation // of nodes that are recognised by their owner
}

func (t *txnAttempts) validate() error {
	for i, op := range t.ops {
		if err := op.validate(); err != nil {
			return t.failed(i, err)
		}
	}
	return nil
}

func (op *TxnOp) validate() error {
	o := &op.create
	switch {
	case op.fault != nil:
		return op.fault
	case op.kind == "":
		return fmt.Errorf("%w: a TxnOp that was not made by CreateOp, SetOp, DeleteOp or CheckOp", zk.ErrBadArguments)
	case op.kind != txnCreate && op.version < AnyVersion:
		return fmt.Errorf("%w: version %d", zk.ErrBadArguments, op.version)
	case op.kind != txnCreate:
		return validatePath(op.path)
	case o.protected, o.siblings, o.parents, o.parentACL.given, o.takesExisting():
		return fmt.Errorf("%w: an option of Create that is none of CreateOp", zk.ErrBadArguments)
	}
	return o.validate(op.path)
}

// failed returns the error of a transaction whose i-th operation has failed.
func (t *txnAttempts) failed(i int, err error) *TxnError {
	results := make([]TxnResult, len(t.ops))
	for j, op := range t.ops {
		results[j] = TxnResult{Op: string(op.kind), Path: op.path, Err: ErrRolledBack}
		if j > i {
			results[j].Err = ErrNotAttempted
		}
	}
	results[i].Err = err
	return &TxnError{i, string(t.ops[i].kind), t.ops[i].path, err, results}
}

func (t *txnAttempts) attempt(ctx context.Context, s *Session) ([]TxnResult, error) {
	if t.inDoubt != nil {
		if results, err := t.findOut(ctx, s); results != nil || err != nil {
			return results, err
		}
	}
	results, err := t.send(ctx, s)
	if t.needsChroot(err) {
		if err = t.client.createPath(ctx, s, t.client.full("/"), Container, nil); err == nil {
			results, err = t.send(ctx, s)
		}
	}
	return results, err
}

// needsChroot reports whether a transaction failed because it is the first to need the chroot.
func (t *txnAttempts) needsChroot(err error) bool {
	var failed *TxnError
	if !errors.As(err, &failed) || !errors.Is(err, zk.ErrNoNode) || failed.Op != string(txnCreate) {
		return false
	}
	root := t.client.full("/")
	parent, _ := splitPath(t.client.full(failed.Path))
	return root != "/" && parent == root
}

func (t *txnAttempts) send(ctx context.Context, s *Session) ([]TxnResult, error) {
	q, err := t.request()
	if err != nil {
		return nil, err
	}
	t.sentIn = s
	answer, err := send(ctx, s, q, t.late(s))
	switch {
	case err == nil:
		return t.results(s, answer)
	case !ambiguous(err) || t.onlyChecks():
		return nil, err
	case t.probe() < 0:
		return nil, unknownOutcome(err)
	}
	t.inDoubt = s
	return nil, err
}

// results turns the server's answer into ours.
func (t *txnAttempts) results(s *Session, answer txnAnswer) ([]TxnResult, error) {
	switch {
	case answer.failed >= 0 && answer.failed < len(t.ops):
		return nil, t.failed(answer.failed, errorOf(answer.code))
	case answer.failed >= 0 || len(answer.parts) != len(t.ops):
		return nil, unknownOutcome(errMalformedAnswer)
	}
	results := make([]TxnResult, len(t.ops))
	for i, part := range answer.parts {
		results[i] = t.result(i, s, answer.zxid)
		results[i].Stat = part.stat
		if t.ops[i].kind == txnCreate {
			results[i].Path, results[i].Stat = t.client.local(part.path), nil
		}
		t.noteOwned(s, t.ops[i], part.path)
	}
	return results, nil
}

// noteOwned keeps account of the session's ephemeral nodes. The path is that of a created node.
func (t *txnAttempts) noteOwned(s *Session, op TxnOp, path string) {
	switch {
	case op.kind == txnCreate && op.create.mode.ephemeral():
		s.made(path)
	case op.kind == txnDelete:
		s.unmade(t.client.full(op.path))
	}
}

// late gets the answer to a transaction whose caller has gone.
func (t *txnAttempts) late(s *Session) func(txnAnswer, error) {
	if !slices.ContainsFunc(t.ops, func(op TxnOp) bool { return op.create.mode.ephemeral() }) {
		return nil
	}
	return func(answer txnAnswer, err error) {
		if err == nil {
			t.results(s, answer)
		}
	}
}

// result returns what is the same for a result that the server gave and one that was found out.
func (t *txnAttempts) result(i int, s *Session, zxid int64) TxnResult {
	if t.onlyChecks() {
		zxid = 0
	}
	return TxnResult{Op: string(t.ops[i].kind), Path: t.ops[i].path, Zxid: zxid, Session: s}
}

func (t *txnAttempts) onlyChecks() bool {
	return !slices.ContainsFunc(t.ops, func(op TxnOp) bool { return op.kind != txnCheck })
}
