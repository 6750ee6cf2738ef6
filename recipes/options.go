package recipes

import (
	"bytes"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
)

// LockOption configures a lock.
type LockOption func(*lockConfig)

type lockConfig struct {
	recipe      string // as tracers are told
	name        string
	data        []byte // if exactData
	exactData   bool
	anonymous   bool
	revocable   bool
	queueLimit  int
	handOvers   int
	handOver    time.Duration
	sharedLimit string
	leader      leaderConfig
	invalid     string
	fault       error // instead of invalid
}

// Revocable makes a lease's context end, with ErrRevoked as its cause, when somebody asks its holder to give the lock up;
// see Revoke. The holder is told at once, at the price of one more request for each lease: it watches its own node from
// the start. Without this option, Lease.Revoked tells those who ask for it.
func Revocable() LockOption {
	return func(c *lockConfig) { c.revocable = true }
}

// WithQueueLimit makes an acquire fail with an error that matches ErrQueueFull, instead of waiting, if there are n
// contenders ahead already, the holder among them. Several who come at once may all fail where one would have fitted.
// At a semaphore only those count who wait, not those who hold leases. By default there is no limit.
func WithQueueLimit(n int) LockOption {
	return func(c *lockConfig) {
		c.queueLimit = n
		if n < 1 {
			c.invalid = fmt.Sprintf("queue limit %d, must be at least 1", n)
		}
	}
}

// WithName sets what a lock is called in spans and metrics: something of which there are few, such as the kind of thing
// that is locked, and not the thing. Without it, metrics do not tell locks of one recipe apart, since paths are too many
// for them.
func WithName(name string) LockOption {
	return func(c *lockConfig) { c.name = name }
}

// WithoutIdentity keeps host, process and service name out of the lock's nodes. What leads to traces, if there is a tracer,
// is another matter; see tracing.WithoutTraceIDs.
func WithoutIdentity() LockOption {
	return func(c *lockConfig) { c.anonymous = true }
}

// WithNodeData sets what the lock's nodes say of their owner, for the errors of those who wait and for Participants. It is
// written as it is. The default is an Identity. Waiters read it, so it should be short: no more than 1 KiB.
// What Revoke writes into a node, "__REVOKE__", is refused.
//
// WithNodeData switches identity and trace links off: the data takes their place in the node. Package tracing calls the
// owner "unknown" then, and nothing leads to its trace.
func WithNodeData(data []byte) LockOption {
	return func(c *lockConfig) {
		c.data, c.exactData = bytes.Clone(data), true
		switch {
		case len(data) > maxNodeData:
			c.invalid = fmt.Sprintf("node data of %d bytes, must be no more than %d", len(data), maxNodeData)
		case bytes.Equal(data, revocationMarker):
			c.invalid = "node data that asks to give the lock up"
		}
	}
}

const maxNodeData = 1 << 10

// WithLocalHandOver lets goroutines that share an InterProcessMutex pass the lock among themselves, in the order of their
// arrival, without a request to the server. Contenders of other processes wait meanwhile, so it is bounded: after n times,
// and when the lock has been in this process for d, the lock is released, and this process queues behind the others.
//
// A lock that is asked for by Revoke is not handed over any more, once that is noticed: at the latest when the process has
// had the lock for a second. A lease that was handed over has the node, and with it the fencing token, of the one before
// it. What the node says of its owner stays, too: since when, and in which trace, is that of the first of them. The holder before has released the lock, so that only its own writes that are still on their way can be confused
// with its successor's.
func WithLocalHandOver(n int, d time.Duration) LockOption {
	return func(c *lockConfig) {
		c.handOvers, c.handOver = n, d
		if n < 1 || d <= 0 {
			c.invalid = fmt.Sprintf("hand-over %d times within %v, must both be positive", n, d)
		}
	}
}

// validate returns an error for options that cannot be used. Every acquire returns it, as it does for a bad path.
func (c *lockConfig) validate() error {
	if c.fault != nil {
		return c.fault
	}
	if c.invalid == "" {
		return nil
	}
	return fmt.Errorf("%w: %s", zk.ErrBadArguments, c.invalid)
}

// These come after the options of the user, and refuse those that a lock cannot have.

func forMutexes(c *lockConfig) {
	c.recipe = RecipeMutex
	c.refuseSharedLimit()
	c.refuseLeader()
}

func forReadWriteLocks(c *lockConfig) {
	c.recipe = RecipeReadWriteLock
	c.refuseSharedLimit()
	c.refuseHandOver()
	c.refuseLeader()
}

func forSemaphores(c *lockConfig) {
	c.recipe = RecipeSemaphore
	c.refuseHandOver()
	c.refuseLeader()
}

// forGates: what holders of a semaphore's leases may be asked for, those who let each other to the leases are not.
func forGates(c *lockConfig) { c.revocable = false }

func (c *lockConfig) refuseSharedLimit() {
	if c.sharedLimit != "" {
		c.invalid = "a shared limit is for semaphores"
	}
}

func (c *lockConfig) refuseHandOver() {
	if c.handOvers != 0 {
		c.invalid = "local hand-over is for mutexes"
	}
}
