package leader

import (
	"time"

	"github.com/gocurator/curator/recipes/internal/seat"
)

// Option configures a Latch or a Selector. A nil Option is an error.
type Option func(*config)

type config struct {
	seat.Options
	grace   time.Duration
	requeue func(error) bool
}

// WithID names a candidate to all who ask for the leader or the participants:
// it is the data of its nodes, and what Java's Participant.getId returns
// there. It may be the address at which the candidate serves: [Observe] tells
// others where the leader is. The id must have no more than 1 KiB: a longer one is an
// error of NewLatch and of Selector.Run that states the limit. By default a candidate
// is called by its service, host and process.
//
// WithID switches identity and trace links off, since the id takes their place
// in the node. Participant.Identity does not know the candidate then, package
// tracing calls it "unknown", and nothing leads to its trace.
func WithID(id string) Option {
	return func(c *config) { c.SetData([]byte(id)) }
}

// WithoutIdentity keeps the names of host, process and service out of the
// candidate's nodes. It does not concern the links to traces, which a tracer
// may add; see tracing.WithoutTraceIDs.
func WithoutIdentity() Option {
	return func(c *config) { c.Anonymous = true }
}

// WithKazooNames gives the candidates the names of Python's kazoo, in place of
// Curator's: Go processes and the Election of kazoo processes have one leader, without a
// change to the kazoo processes. All Go candidates of one election need the option. See
// locks.WithKazooNames for the limits.
func WithKazooNames() Option {
	return func(c *config) { c.Kazoo = true }
}

// WithName sets the name of the leadership in spans and metrics. It should be
// one of few names. Without it, metrics do not tell leaderships of one recipe
// apart.
func WithName(name string) Option {
	return func(c *config) { c.Label = name }
}

// WithGrace lets a leader that is asked to step down, by locks.Revoke, go on
// for d, to finish what it is doing. Lease.Revoked tells the work, which may
// end earlier by itself; when d is over, the leadership's context ends with
// locks.ErrRevoked. By default that happens at once. A negative d is an error.
func WithGrace(d time.Duration) Option {
	return func(c *config) {
		c.grace = d
		if d < 0 {
			c.Fault = seat.Invalid("grace", d.String(), "must not be negative")
		}
	}
}

// WithRequeue makes a Selector stand again after its leadership, as long as
// again returns true. The function gets the outcome of the leadership: nil, the
// work's error, or both that and the reason of the leadership's loss, to be
// tested with errors.Is. If it returns false, Selector.Run returns that
// outcome. After an error there is a pause of a second, in which others may
// lead. A nil function is an error. A Latch always stands again: for NewLatch, the
// option is an error.
func WithRequeue(again func(err error) bool) Option {
	return func(c *config) {
		c.requeue = again
		if again == nil {
			c.Fault = seat.IsNil("requeue function")
		}
	}
}
