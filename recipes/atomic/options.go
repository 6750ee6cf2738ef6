package atomic

import (
	"strconv"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/event"
)

// Option configures a Long, an Int or a Value. An option that cannot be used is
// an error of every call.
type Option func(*config)

type config struct {
	receipts string // the path under which receipts are, or empty
	lockPath string // or empty
	tries    int
	fault    error // why an argument cannot be used, or nil
}

// WithReceipts has each write counted in a second node, in the same
// transaction. When the reply to a write is lost, that node tells whether the
// write was applied, whoever has written since. Without receipts, such a write
// ends with framework.ErrOutcomeUnknown if somebody, perhaps itself, has left
// the data that it was to leave, or if there were several writes since.
//
// A receipt is an ephemeral node below path. Each Long, Int or Value that
// writes has one in each session, so make one object and keep it. The receipt
// goes with the session. The path, and what is missing above it, is created as containers.
//
// A lost reply is still ErrOutcomeUnknown if the servers have ended the session
// before the receipt could be read, and the node alone does not tell. It is also
// if somebody else has deleted or written the receipt, or if the client is
// closed or the caller gives up before that is known.
func WithReceipts(path string) Option {
	return func(c *config) {
		c.receipts = path
		c.check(path)
	}
}

// WithPromotion is for numbers with many writers. A write that has lost the race
// for the node this many times takes a lock, and goes on under it: the
// InterProcessMutex with this path, as Curator's PromotedToLock does.
// Java and Go processes that have the same lock path wait for each other then,
// in the order of their arrival. Writers without it do not wait.
//
// An Update whose tries have lost that often has the lock until it returns, also
// while it calls its function. So the function should be quick, and must not change
// another Long, Int or Value that has this lock path: it could wait for itself.
//
// Callers of one object that write at the same time wait for the lock together,
// and the wait ends with the last of them. Those with whose contexts it ends are
// told who holds the lock: errors.As finds a *locks.NotAcquiredError. Those that
// give up before are not: the others go on waiting, and the lock was refused to
// nobody yet.
func WithPromotion(lockPath string, tries int) Option {
	return func(c *config) {
		c.lockPath, c.tries = lockPath, tries
		c.check(lockPath)
		if tries < 1 {
			c.fault = &framework.ConfigError{
				Name: "tries", Value: strconv.Itoa(tries), Reason: "must be positive",
			}
		}
	}
}

func (c *config) check(path string) {
	if err := framework.ValidatePath(path); err != nil {
		c.fault = err
	}
}

// errNotMade is the error of a zero Number, Value or Sequence.
var errNotMade error = &framework.ConfigError{Name: "object", Value: "zero", Reason: "must be made by its constructor"}

func isNil(name string) error {
	return &framework.ConfigError{Name: name, Value: "nil", Reason: "must not be nil"}
}

// newCell returns the cell of an object.
func newCell(c *framework.Client, path string, opts []Option) *cell {
	one := &cell{client: c, path: path, events: event.Of(c, path)}
	one.loads = &cell{client: c, path: path, events: one.events, writes: one}
	for _, each := range []*cell{one, one.loads} {
		each.recovery.Client, each.recovery.Awaited = c, true
	}
	one.cfg.check(path)
	for _, o := range opts {
		if o == nil {
			one.cfg.fault = isNil("option")
			continue
		}
		o(&one.cfg)
	}
	if c == nil {
		one.cfg.fault = isNil("client")
	}
	return one
}
