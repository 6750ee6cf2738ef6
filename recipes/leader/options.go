package leader

import (
	"time"

	"github.com/gocurator/curator/recipes/internal/seat"
)

// Option configures a Latch or a Selector. A nil Option is an error.
//
//   - How a leadership ends, and what follows: [WithGrace], and [WithRequeue] for a Selector.
//   - What the nodes say about the candidate: [WithID], [WithoutIdentity].
//   - What spans and metrics say: [WithName].
//   - Sharing an election with Python's kazoo: [WithKazooNames].
type Option func(*config)

type config struct {
	seat.Options
	grace   time.Duration
	requeue func(error) bool
}

// WithID sets the id of a candidate, which Participant.ID and Java's Participant.getId
// return. The id may be the address at which the candidate serves, so that [Observe] shows
// where the leader is. By default the id consists of service, host and process. NewLatch
// and Selector.Run return an error if the id is longer than 1 KiB.
//
// The id is the data of the candidate's nodes, in place of identity and trace links. So
// Participant.Identity is empty, package tracing calls the candidate "unknown", and
// spans of other processes have no link to its trace.
func WithID(id string) Option {
	return func(c *config) { c.SetData([]byte(id)) }
}

// WithoutIdentity keeps the names of host, process and service out of the candidate's
// nodes. Trace links remain; see tracing.WithoutTraceIDs.
func WithoutIdentity() Option {
	return func(c *config) { c.Anonymous = true }
}

// WithKazooNames names the nodes of candidates as Python's kazoo does, instead of as
// Curator does. Then Go processes and unchanged kazoo processes with an Election elect
// one leader together. All Go candidates of an election need the option. See
// locks.WithKazooNames for the limits.
func WithKazooNames() Option {
	return func(c *config) { c.Kazoo = true }
}

// WithName sets the name of the leadership in spans and metrics. A program should use few
// different names. Without names, metrics do not tell elections apart.
func WithName(name string) Option {
	return func(c *config) { c.Label = name }
}

// WithGrace gives a leader that is asked to step down, by locks.Revoke or HandOver, the
// time d to finish its work. Lease.Revoked is closed at once; after d, the context of the
// leadership ends with locks.ErrRevoked. The default is 0. A negative d is an error.
func WithGrace(d time.Duration) Option {
	return func(c *config) {
		c.grace = d
		if d < 0 {
			c.Fault = seat.Invalid("grace", d.String(), "must not be negative")
		}
	}
}

// WithRequeue makes a Selector queue again after a leadership, as long as again returns
// true. again receives the result of the leadership: nil, the error of work, or an error
// that also matches the reason of a lost leadership. If again returns false, Selector.Run
// returns that result. After an error, the Selector pauses for a second, so that other
// candidates may lead. A nil function is an error. A Latch always queues again, so
// NewLatch does not accept the option.
func WithRequeue(again func(err error) bool) Option {
	return func(c *config) {
		c.requeue = again
		if again == nil {
			c.Fault = seat.IsNil("requeue function")
		}
	}
}
