package atomic

import (
	"errors"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/event"
)

// Option configures a Long, an Int or a Value. If an option is invalid, every call returns
// the error.
type Option func(*config)

type config struct {
	receipts string // the parent path of receipts, or empty
	fault    error  // of an invalid argument, or nil
}

// WithReceipts counts each write in a second node, in the same transaction. If the reply
// to a write is lost, the receipt shows whether the write was applied, even if other
// clients have written since. Without receipts, a write whose reply is lost ends with
// framework.ErrOutcomeUnknown if the node has the data of the write, or if there were
// several writes since.
//
// A receipt is an ephemeral node below path. Each Long, Int or Value that writes has one
// receipt in each session, so keep one object for each path. The receipt disappears with
// the session. Missing nodes of path are created as containers.
//
// A lost reply still leads to framework.ErrOutcomeUnknown in three cases:
//
//   - The session ends before the client could read the receipt, and the node alone does
//     not show the outcome.
//   - Another client has deleted or written the receipt.
//   - ctx or the client ends before the outcome is known.
func WithReceipts(path string) Option {
	return func(c *config) {
		c.receipts = path
		c.check(path)
	}
}

func (c *config) check(path string) {
	if err := framework.ValidatePath(path); err != nil {
		c.fault = err
	}
}

// Calls return these errors and the errors of package framework. Match them with
// errors.Is.
var (
	// ErrNoVersion means that the version of the node is -1, after 2^32 - 1 writes.
	// ZooKeeper takes -1 for any version, so the node cannot be written conditionally.
	// One unconditional write ends this state.
	ErrNoVersion = errors.New("version of the node is -1, which stands for any")

	// ErrEphemeral means that the node is ephemeral. The server will delete the node and
	// its value, so the node is read but not written. A Stat does not tell containers and
	// TTL nodes from persistent nodes: do not use a node with children, or the path of
	// receipts, as a counter.
	ErrEphemeral = errors.New("node is ephemeral")

	// ErrRestarted means that a Sequence's node was deleted and re-created, so that dense
	// numbers start again.
	ErrRestarted = errors.New("node of the sequence was re-created")

	// ErrExhausted means that a Sequence has no more dense numbers.
	ErrExhausted = errors.New("no more dense numbers")
)

// errNotMade is the error of a zero Number, Value or Sequence.
var errNotMade error = &framework.ConfigError{Name: "object", Value: "zero", Reason: "must be made by its constructor"}

func isNil(name string) error {
	return &framework.ConfigError{Name: name, Value: "nil", Reason: "must not be nil"}
}

// withoutOp removes the operation that package framework puts into an error, because the
// user has called another operation.
func withoutOp(err error) error {
	var failed *framework.OpError
	if reason.As(err, &failed) && failed.Error() == err.Error() {
		return failed.Err
	}
	return err
}

// HookAtomicWritten is a clienttrace.Hook. The client's emitter calls AtomicWritten once
// for each write of every Number and Value of the client. A write may contain several
// Adds, and may have been sent several times.
type HookAtomicWritten interface {
	// AtomicWritten receives the outcome: "applied", "conflict" if another client had
	// changed the node, "not_applied" if the connection or the receipt was lost,
	// "refused" or "unknown". After "conflict" and "not_applied", the Number or Value
	// tries again.
	AtomicWritten(outcome string)
}

var hookWritten = framework.NewHookKind[HookAtomicWritten]()

// eventsWritten are the events of writes by outcome.
var eventsWritten = map[outcome]event.Kind{
	applied:  {Hook: tellWritten("applied")},
	conflict: {Hook: tellWritten("conflict")},
	again:    {Hook: tellWritten("not_applied")},
	refused:  {Hook: tellWritten("refused")},
	lost:     {Hook: tellWritten("unknown")},
}

func tellWritten(outcome string) event.Hook {
	return event.Call(hookWritten, func(h HookAtomicWritten) { h.AtomicWritten(outcome) })
}

var eventOutcomeUnknown = event.Kind{Warn: "outcome of a write is unknown"}
