package atomic

import (
	"errors"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/event"
)

// Option configures a Long, an Int or a Value. An option that cannot be used is
// an error of every call.
type Option func(*config)

type config struct {
	receipts string // the path under which receipts are, or empty
	fault    error  // why an argument cannot be used, or nil
}

// WithReceipts has each write counted in a second node, in the same
// transaction. When the reply to a write is lost, that node tells whether the
// write was applied, whoever has written since. Without receipts, such a write
// ends with framework.ErrOutcomeUnknown if the node has the data that the write
// was to leave, or if there were several writes since.
//
// A receipt is an ephemeral node below path. Each Long, Int or Value that writes
// has one in each session, so make one object and keep it. The receipt goes with
// the session. Missing nodes of the path are created as containers.
//
// A lost reply is still ErrOutcomeUnknown if the servers have ended the session
// before the client could use the receipt, and the node alone does not tell. The
// same holds if another client has deleted or written the receipt, or if the client
// is closed or the caller gives up before the outcome is known.
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

// Calls return these errors, besides package framework's. Match them with
// errors.Is.
var (
	// ErrNoVersion means that a node was written so often that its version is
	// -1. ZooKeeper takes that for any version, so that nobody can write the
	// node on condition. Any other write of the node ends this.
	ErrNoVersion = errors.New("version of the node is -1, which stands for any")

	// ErrEphemeral means that a node is ephemeral. The server deletes it, and
	// its value with it, so it is read but not written. ZooKeeper does not tell
	// containers and nodes with a time to live from persistent ones: do not count
	// in a node that is the parent of others, or the path of receipts.
	ErrEphemeral = errors.New("node is ephemeral")

	// ErrRestarted means that a Sequence's node was deleted and re-created, so
	// that dense numbers begin again.
	ErrRestarted = errors.New("node of the sequence was re-created")

	// ErrExhausted means that a Sequence has no more dense numbers.
	ErrExhausted = errors.New("no more dense numbers")
)

// errNotMade is the error of a zero Number, Value or Sequence.
var errNotMade error = &framework.ConfigError{Name: "object", Value: "zero", Reason: "must be made by its constructor"}

func isNil(name string) error {
	return &framework.ConfigError{Name: name, Value: "nil", Reason: "must not be nil"}
}

// withoutOp takes away what an error of framework says about its own operation:
// the caller has asked for another one.
func withoutOp(err error) error {
	var failed *framework.OpError
	if reason.As(err, &failed) && failed.Error() == err.Error() {
		return failed.Err
	}
	return err
}

// HookAtomicWritten is a clienttrace.Hook that is notified of the outcome of the
// writes of every Number and Value of a client, once for each write. A write may
// have the Adds of several callers, and may have been sent several times. The client's
// emitter makes the calls.
type HookAtomicWritten interface {
	// AtomicWritten gets the outcome: "applied", "conflict" if another client had
	// changed the node, "not_applied" if the connection or the receipt was lost,
	// "refused" or "unknown". After the second and the third, the changes that
	// were in the write are tried again.
	AtomicWritten(outcome string)
}

var hookWritten = framework.NewHookKind[HookAtomicWritten]()

// eventsWritten are the writes, by what has become of them.
var eventsWritten = map[verdict]event.Kind{
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
