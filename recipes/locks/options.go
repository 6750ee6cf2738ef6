package locks

import (
	"bytes"

	"github.com/gocurator/curator/recipes/internal/seat"
)

// Option configures a lock of any kind. Every Option is a MutexOption. (But a []Option is
// not a []MutexOption: append the elements one by one.)
//
//   - What the nodes say about their owner: [WithNodeData], [WithoutIdentity].
//   - What spans and metrics say: [WithName].
//   - Giving a lock up on request: [WithRevocation].
//   - When a release frees the lock: [WithReleasePolicy], for a mutex and a read/write lock.
//   - Sharing a mutex with Python's kazoo: [WithKazooNames].
type Option interface {
	MutexOption
	ReadWriteOption
	applyToAny(*seat.Options)
}

// MutexOption configures an InterProcessMutex.
type MutexOption interface {
	applyToMutex(*seat.Options)
}

// ReadWriteOption configures an InterProcessReadWriteLock. Every Option is a
// ReadWriteOption.
type ReadWriteOption interface {
	applyToReadWrite(*seat.Options)
}

type option func(*seat.Options)

func (o option) applyToMutex(c *seat.Options)     { o(c) }
func (o option) applyToReadWrite(c *seat.Options) { o(c) }
func (o option) applyToAny(c *seat.Options)       { o(c) }

// optionsOf applies options. Each kind of lock has its own apply method.
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

// WithRevocation makes a lease's context end with the cause ErrRevoked when another
// client asks the holder to give the lock up; see Revoke. The holder learns of a request
// at once. The option costs one more request per lease, because the holder watches its
// own node from the start. Without it, only holders that use Lease.Revoked learn of a
// request.
func WithRevocation() Option {
	return option(func(c *seat.Options) { c.Revocable = true })
}

// WithName sets the name of a lock in spans and metrics. Choose from a few names, such as
// the kind of the locked thing, not the thing itself. Without a name, metrics do not
// distinguish the locks of one recipe, because there may be too many paths.
func WithName(name string) Option {
	return option(func(c *seat.Options) { c.Label = name })
}

// WithoutIdentity keeps the names of host, process and service out of the lock's nodes.
// It does not remove the trace links that a tracer may add; see tracing.WithoutTraceIDs.
func WithoutIdentity() Option {
	return option(func(c *seat.Options) { c.Anonymous = true })
}

// WithKazooNames gives the mutex the node names of Python's kazoo instead of Curator's. A
// Go process and the Lock, WriteLock and ReadLock of a kazoo process then exclude each
// other, without a change to the kazoo process. All Go processes of one lock need the
// option.
//
// The path is created as a persistent node, as kazoo does. Revoke refuses the node of a
// kazoo process, and works for the node of a Go process. Both sides order contenders by
// number, but kazoo compares numbers as text. Before 2^31 nodes were created below the
// path, delete the path while no process uses it.
func WithKazooNames() MutexOption {
	return mutexOption(func(c *seat.Options) { c.Kazoo = true })
}

type mutexOption func(*seat.Options)

func (o mutexOption) applyToMutex(c *seat.Options) { o(c) }

// WithNodeData sets what the lock's nodes say about their owner, for the errors of
// waiters and for Participants. The default is an Identity. The data is written
// unchanged. The data must not be longer than 1 KiB, because waiters read it, and must
// not be "__REVOKE__", the data by which Revoke asks for the lock. Otherwise every
// acquire returns a *framework.ConfigError that states the limit, without sending a
// request.
//
// WithNodeData disables identity and trace links, because the data takes their place in
// the node. Package tracing then calls the owner "unknown" and has no link to its trace.
func WithNodeData(data []byte) Option {
	own := bytes.Clone(data)
	return option(func(c *seat.Options) { c.SetData(own) })
}
