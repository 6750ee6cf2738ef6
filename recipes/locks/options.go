package locks

import (
	"bytes"

	"github.com/gocurator/curator/recipes/internal/seat"
)

// Option configures a lock of any kind. Every Option is a MutexOption. (But a
// []Option is no []MutexOption: append them one by one.)
type Option interface {
	MutexOption
	ReadWriteOption
	applyToAny(*seat.Options)
}

// MutexOption configures an InterProcessMutex.
type MutexOption interface {
	applyToMutex(*seat.Options)
}

// ReadWriteOption configures an InterProcessReadWriteLock. Every Option is one.
type ReadWriteOption interface {
	applyToReadWrite(*seat.Options)
}

type option func(*seat.Options)

func (o option) applyToMutex(c *seat.Options)     { o(c) }
func (o option) applyToReadWrite(c *seat.Options) { o(c) }
func (o option) applyToAny(c *seat.Options)       { o(c) }

// optionsOf applies options. Each kind of lock has its own way to do that.
func optionsOf[O any](opts []O, apply func(O, *seat.Options)) (c seat.Options) {
	for _, o := range opts {
		if any(o) == nil {
			c.Fault = seat.IsNil("option")
			continue
		}
		apply(o, &c)
	}
	return c
}

// WithRevocation makes a lease's context end, with ErrRevoked as its cause,
// when somebody asks the holder to give the lock up; see Revoke. The holder
// hears of it at once, at the price of one more request for each lease: it
// watches its own node from the start. Without this option, Lease.Revoked
// tells holders that ask for it.
func WithRevocation() Option {
	return option(func(c *seat.Options) { c.Revocable = true })
}

// WithName sets the name of a lock in spans and metrics. It should be one of
// few names, such as the kind of thing that is locked, and not the thing
// itself. Without it, metrics do not tell locks of one recipe apart, since
// paths are too many for them.
func WithName(name string) Option {
	return option(func(c *seat.Options) { c.Label = name })
}

// WithoutIdentity keeps the names of host, process and service out of the
// lock's nodes. It does not concern the links to traces, which a tracer may
// add; see tracing.WithoutTraceIDs.
func WithoutIdentity() Option {
	return option(func(c *seat.Options) { c.Anonymous = true })
}

// WithKazooNames gives the mutex the names of Python's kazoo, in place of Curator's: a
// Go process and the Lock, WriteLock and ReadLock of a kazoo process exclude each other,
// without a change to the kazoo process. All Go processes of one lock need the option.
//
// The path is created as a persistent node, as kazoo does. Revoke refuses the node of a
// kazoo process, and reaches a Go process. Both sides order contenders by number, but
// kazoo compares numbers as text: delete the path, while no process uses it, before 2^31
// nodes were created below it.
func WithKazooNames() MutexOption {
	return mutexOption(func(c *seat.Options) { c.Kazoo = true })
}

type mutexOption func(*seat.Options)

func (o mutexOption) applyToMutex(c *seat.Options) { o(c) }

// WithNodeData sets what the lock's nodes say of their owner, for the errors
// of waiters and for Participants. The default is an Identity. The data is
// written as it is. It must have no more than 1 KiB, because waiters read it, and
// must not be "__REVOKE__", by which Revoke asks for the lock. Otherwise every acquire
// returns a *framework.ConfigError that states the limit, before it sends a request.
//
// WithNodeData switches identity and trace links off, since the data takes
// their place in the node. Package tracing calls the owner "unknown" then, and
// nothing leads to its trace.
func WithNodeData(data []byte) Option {
	own := bytes.Clone(data)
	return option(func(c *seat.Options) { c.SetData(own) })
}
