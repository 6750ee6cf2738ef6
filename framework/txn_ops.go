package framework

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// TxnOp is one operation of a Transaction, from CreateOp, SetOp, DeleteOp or CheckOp.
type TxnOp struct {
	kind    txnKind
	view    *Client // the view of the path; nil for the view of the transaction
	path    string
	data    []byte
	version int32
	create  createConfig
	asSet   bool  // a create WithOverwrite of a node that exists
	invalid error // an option that cannot be used
}

type txnKind string

const (
	txnCreate txnKind = "create"
	txnSet    txnKind = "set"
	txnDelete txnKind = "delete"
	txnCheck  txnKind = "check"
)

// CreateOp creates a node in a transaction. WithMode (with every mode), WithTTL,
// WithACL, WithProtection and WithOverwrite work as for Create. So do WithParents,
// WithPersistentParents and WithParentACL: missing parents are created before the
// transaction. Any other option makes the transaction fail with a *ConfigError. The
// data is copied.
//
// WithOverwrite costs another attempt of the transaction for each existing node,
// because servers have no operation that creates or sets.
func CreateOp(path string, data []byte, opts ...CreateOption) TxnOp {
	op := TxnOp{kind: txnCreate, path: path, data: bytes.Clone(data)}
	op.invalid = apply(&op.create, opts)
	return op
}

// SetOp writes a node's data in a transaction, if the node has the given
// version. AnyVersion always matches. The data is copied.
func SetOp(path string, data []byte, version int32) TxnOp {
	return TxnOp{kind: txnSet, path: path, data: bytes.Clone(data), version: version}
}

// DeleteOp deletes a node without children in a transaction, if the node has
// the given version. AnyVersion always matches.
func DeleteOp(path string, version int32) TxnOp {
	return TxnOp{kind: txnDelete, path: path, version: version}
}

// CheckOp makes a transaction depend on a node that exists and has the given
// version. AnyVersion always matches.
func CheckOp(path string, version int32) TxnOp {
	return TxnOp{kind: txnCheck, path: path, version: version}
}

// In returns the operation with its path relative to view, so that one transaction can
// contain operations on several namespaces. The view and the client of the transaction
// must be views of one client; otherwise the transaction fails with a *ConfigError.
// Results and errors name the path in the view.
func (op TxnOp) In(view *Client) TxnOp {
	op.view = view
	return op
}

// full returns the server's name for the path of an operation of a txn.
func (op *TxnOp) full() string { return op.view.full(op.path) }

// name returns the operation's name in results and errors.
func (op *TxnOp) name() string {
	if op.asSet {
		return string(txnSet)
	}
	return string(op.kind)
}

func (op *TxnOp) validate() error {
	c := &op.create
	switch {
	case op.invalid != nil:
		return op.invalid
	case op.kind == "":
		return badArgument("TxnOp", "", "must be made by CreateOp, SetOp, DeleteOp or CheckOp")
	case op.kind != txnCreate:
		return validatePath(op.path)
	case c.siblings, c.idempotent:
		return badArgument("option", "of CreateOp", "must not be WithSiblings or WithIdempotence")
	}
	return c.validate(op.path)
}

// TxnResult is the result of one operation of a Transaction.
type TxnResult struct {
	// Op is "create", "set", "delete" or "check". It is "set" for a CreateOp
	// WithOverwrite whose node existed.
	Op string

	// Path is the client's name for the node. After the creation of a sequential node,
	// Path includes the node's number.
	Path string

	// Stat is the node's Stat after a set, otherwise nil. The Version of a created node
	// is 0.
	Stat *zk.Stat

	// Zxid is the id of the transaction, which all its operations share: the
	// Czxid of the nodes that were created, and the Mzxid of the nodes that
	// were set. It is 0 if the transaction only checks.
	Zxid int64

	// Session is the session of the transaction, with which its ephemeral nodes end.
	Session *Session

	// Err is nil, except in a TxnError. There it is the error of the failed operation,
	// ErrRolledBack for each earlier operation, and ErrNotAttempted for each later one.
	Err error
}

// A TxnError has these errors for operations that did not fail themselves.
var (
	ErrRolledBack   = errors.New("rolled back")
	ErrNotAttempted = errors.New("not attempted")
)

// TxnError names the operation that made a transaction fail, and matches that
// operation's error. No operation was applied, unless the wrapping error matches
// ErrOutcomeUnknown: then an earlier attempt, whose reply was lost, may have been
// applied.
type TxnError struct {
	Index   int // which operation failed, counted from 0
	Op      string
	Path    string
	Err     error
	Results []TxnResult // one for each operation, in order
}

// Error returns a text such as: operation 2 of 3, set /a: zk: version conflict.
func (e *TxnError) Error() string {
	return fmt.Sprintf("operation %d of %d, %s %s: %v", e.Index+1, len(e.Results), e.Op, e.Path, e.Err)
}

// Unwrap returns Err.
func (e *TxnError) Unwrap() error { return e.Err }
