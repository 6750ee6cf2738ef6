package locks

import (
	"bytes"
	"fmt"
	"time"

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

type mutexOption func(*seat.Options)

func (o mutexOption) applyToMutex(c *seat.Options) { o(c) }

// cachedOption is for the locks that can be cached.
type cachedOption func(*seat.Options)

func (o cachedOption) applyToMutex(c *seat.Options)     { o(c) }
func (o cachedOption) applyToReadWrite(c *seat.Options) { o(c) }

func optionsOf(opts []Option) (c seat.Options) {
	for _, o := range opts {
		if o == nil {
			c.Fault = seat.IsNil("option")
			continue
		}
		o.applyToAny(&c)
	}
	return c
}

func readWriteOptionsOf(opts []ReadWriteOption) (c seat.Options) {
	for _, o := range opts {
		if o == nil {
			c.Fault = seat.IsNil("option")
			continue
		}
		o.applyToReadWrite(&c)
	}
	return c
}

func mutexOptionsOf(opts []MutexOption) (c seat.Options) {
	for _, o := range opts {
		if o == nil {
			c.Fault = seat.IsNil("option")
			continue
		}
		o.applyToMutex(&c)
	}
	if c.MinimumHold > 0 && (c.HandOvers > 0 || c.CachedUses > 0) {
		c.Fault = seat.Invalid("minimum hold", c.MinimumHold.String(), "contradicts a local hand-over and a cached lock")
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

// WithQueueLimit makes an acquire fail with an error that matches ErrQueueFull,
// instead of waiting, if there are n contenders ahead already, the holder among
// them. An acquire counts the goroutines of its client first, and all contenders at
// the server when it has a node there. If several contenders come at once, all may
// fail where one would have fitted. A semaphore counts the contenders that wait, not
// the holders of leases. By default there is no limit. A limit below 1 is an error
// of every acquire.
func WithQueueLimit(n int) Option {
	return option(func(c *seat.Options) {
		c.QueueLimit = n
		if n < 1 {
			c.Fault = seat.Invalid("queue limit", fmt.Sprint(n), "must be at least 1")
		}
	})
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

// WithNodeData sets what the lock's nodes say of their owner, for the errors
// of waiters and for Participants. The default is an Identity. The data is
// written as it is. It must have no more than 1 KiB, since waiters read it,
// and must not be "__REVOKE__", by which Revoke asks for the lock: anything
// else is an error of every acquire.
//
// WithNodeData switches identity and trace links off, since the data takes
// their place in the node. Package tracing calls the owner "unknown" then, and
// nothing leads to its trace.
func WithNodeData(data []byte) Option {
	own := bytes.Clone(data)
	return option(func(c *seat.Options) { c.SetData(own) })
}

// WithLocalHandOver lets the release of a lock pass it to the next waiting goroutine
// of the client, in the order of arrival, without a request to the server. Contenders
// of other clients wait meanwhile, so there are bounds: the client passes the lock on
// at most n times in a row, and for at most d after it got the lock. After that, the
// release deletes the node, and the client queues behind the others. Both bounds must
// be positive.
//
// The releasing lease's object decides. The next goroutine may have called any object
// of the client whose nodes would be the same: see InterProcessMutex.
//
// A release does not pass the lock on once the client knows that somebody has asked
// for it by Revoke. The client knows at the latest when it has had the lock for a
// second.
//
// A lease that was handed over has the node of the lease before it, and with it the
// fencing token. The node goes on saying what it said of the first holder. The holder
// before has released the lock, so that only its writes that are still on their way
// can be confused with its successor's.
func WithLocalHandOver(n int, d time.Duration) MutexOption {
	return mutexOption(func(c *seat.Options) {
		c.HandOvers, c.HandOver = n, d
		if n < 1 || d <= 0 {
			c.Fault = seat.Invalid("local hand-over", fmt.Sprintf("%d times within %v", n, d), "both must be positive")
		}
	})
}

// WithCachedLock keeps the node when a mutex, or a read lock, is released and no other
// contender is queued. The lock is idle then. The client's next acquire takes it over
// within microseconds and without a request. It may be called on any object whose
// nodes would be the same: see InterProcessMutex. The release of an object without
// this option deletes the node.
//
// The client deletes the node of an idle lock:
//
//   - as soon as another contender queues, or only tries; if the lock is held again,
//     with its release;
//   - when the lock was idle for the time given, or less if an acquire takes it
//     just as that ends;
//   - when somebody asks for the lock by Revoke;
//   - when the session is suspended under state.StandardPolicy, and with the session's
//     end;
//   - when the client has more than 1,000 idle locks: the longest idle goes first.
//
// A release does not keep the node after n acquires in a row that came without a
// request, without a connection, or if the client had to wait for the lock and this is
// the first release since. Both n and idle must be positive. The first release costs
// one more request, which sets a watch on the queue.
//
// Goroutines of the client that wait get the lock at its release by the same rules.
//
// The others pay for it. A contender behind an idle lock waits for an event and a
// deletion. A contender that only tries may be refused, and one with WithQueueLimit
// may find the queue full. If the process crashes, they wait until its session ends,
// although nobody held the lock. To others, Participants, package inspect and zklock,
// an idle lock looks as if the acquire that made the node held it. If the server
// refuses to delete an idle lock, that is in the log, and the node stays until the
// session ends.
//
// As with WithLocalHandOver, a lease that came without a request has the fencing
// token of the lease before it, which was released.
//
// # Readers
//
// With an InterProcessReadWriteLock, the option keeps the node that the readers of
// the client share, when the last of them releases it. The node of a writer goes with
// its release. The number n counts the acquires that find the lock idle, not the
// readers who join others.
//
// The option also makes joining cheaper: the first reader that lists the queue in
// order to join sets a watch, and readers join without a request until the watch
// fires, instead of for 100 ms. If the connection fails silently, they join until the
// client notices that, which takes less than the session timeout. An idle node is
// deleted at any change of the queue, also if other readers come or go.
func WithCachedLock(n int, idle time.Duration) interface {
	MutexOption
	ReadWriteOption
} {
	return cachedOption(func(c *seat.Options) {
		c.CachedUses, c.CachedIdle = n, idle
		if n < 1 || idle <= 0 {
			c.Fault = seat.Invalid("cached lock", fmt.Sprintf("%d times, idle for %v", n, idle), "both must be positive")
		}
	})
}
