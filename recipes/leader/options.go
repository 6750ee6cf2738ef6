package leader

import (
	"fmt"
	"time"

	"github.com/gocurator/curator/recipes/internal/queue"
)

// Option configures a Latch or a Selector. Every Option is a LatchOption and a
// SelectorOption.
type Option interface {
	LatchOption
	SelectorOption
}

// LatchOption configures a Latch.
type LatchOption interface{ applyToLatch(*config) }

// SelectorOption configures a Selector.
type SelectorOption interface{ applyToSelector(*config) }

type config struct {
	queue.Options
	grace   time.Duration
	notify  bool
	overrun time.Duration
	requeue func(error) bool
}

type option func(*config)

func (o option) applyToLatch(c *config)    { o(c) }
func (o option) applyToSelector(c *config) { o(c) }

type latchOption func(*config)

func (o latchOption) applyToLatch(c *config) { o(c) }

type selectorOption func(*config)

func (o selectorOption) applyToSelector(c *config) { o(c) }

func latchConfig(opts []LatchOption) (c config) {
	for _, o := range opts {
		if o == nil {
			c.Fault = queue.IsNil("option")
			continue
		}
		o.applyToLatch(&c)
	}
	return c
}

func selectorConfig(opts []SelectorOption) config {
	c := config{overrun: defaultOverrun}
	for _, o := range opts {
		if o == nil {
			c.Fault = queue.IsNil("option")
			continue
		}
		o.applyToSelector(&c)
	}
	return c
}

// defaultOverrun is long enough for work that looks at its context between two
// steps.
const defaultOverrun = 10 * time.Second

// WithID names a candidate to all who ask for the leader or the participants:
// it is the data of its nodes, and what Java's Participant.getId returns
// there. It may be the address at which the candidate serves: [Observe] tells
// others where the leader is. The id must have no more than 1 KiB. By default a
// candidate is called by its service, host and process.
//
// WithID switches identity and trace links off, since the id takes their place
// in the node. Participant.Identity does not know the candidate then, package
// tracing calls it "unknown", and nothing leads to its trace.
func WithID(id string) Option {
	return option(func(c *config) { c.SetData([]byte(id)) })
}

// WithoutIdentity keeps the names of host, process and service out of the
// candidate's nodes. It does not concern the links to traces, which a tracer
// may add; see tracing.WithoutTraceIDs.
func WithoutIdentity() Option {
	return option(func(c *config) { c.Anonymous = true })
}

// WithName sets the name of the leadership in spans and metrics. It should be
// one of few names. Without it, metrics do not tell leaderships of one recipe
// apart.
func WithName(name string) Option {
	return option(func(c *config) { c.Label = name })
}

// WithGrace lets a leader that is asked to step down, by locks.Revoke, go on
// for d, to finish what it is doing. Lease.Revoked tells the work, which may
// end earlier by itself; when d is over, the leadership's context ends with
// locks.ErrRevoked. By default that happens at once. A negative d is an error.
func WithGrace(d time.Duration) Option {
	return option(func(c *config) {
		c.grace = d
		if d < 0 {
			c.Fault = queue.Invalid("grace", d.String(), "must not be negative")
		}
	})
}

// WithCloseNotification makes Latch.Shutdown tell the readers of Changes of the
// end of the leadership, as of every other end. By default a latch that is
// being shut down tells them nothing more. It is Curator's
// CloseMode.NOTIFY_LEADER.
func WithCloseNotification() LatchOption {
	return latchOption(func(c *config) { c.notify = true })
}

// WithRequeue makes a Selector stand again after its leadership, as long as
// again says so. The function gets the outcome of the leadership: nil, the
// work's error, or both that and the reason of the leadership's loss, to be
// tested with errors.Is. If it returns false, Selector.Run returns that
// outcome. After an error there is a pause of a second, in which others may
// lead. A nil function is an error.
func WithRequeue(again func(err error) bool) SelectorOption {
	return selectorOption(func(c *config) {
		c.requeue = again
		if again == nil {
			c.Fault = queue.IsNil("requeue function")
		}
	})
}

// WithOverrunReport sets how long the work of a Selector may go on after its
// leadership's context has ended before that is reported, by a line of the
// client's logger and to its hooks. The default is 10 seconds. It must be
// positive.
func WithOverrunReport(d time.Duration) SelectorOption {
	return selectorOption(func(c *config) {
		c.overrun = d
		if d <= 0 {
			c.Fault = queue.Invalid("time until an overrun is reported", fmt.Sprint(d), "must be positive")
		}
	})
}
