package recipes

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/retry"
)

// InterProcessMutex is a distributed lock: at most one holder per path across every client of the ensemble. Waiters
// are admitted in the order of their arrival. An InterProcessMutex is safe for concurrent use: each acquire that does
// not re-enter is a contender of its own.
//
// Holders and waiters are ephemeral nodes below the path, named as by Java Curator's InterProcessMutex, with which a
// Go process may share a lock. No other nodes should be below the path; they are ignored.
type InterProcessMutex struct {
	loop lockloop.Loop
	key  mutexKey
}

// mutexKey identifies a lock in the contexts of its leases. Any InterProcessMutex for the same node and client is the
// same lock, whatever the namespace through which the client is seen.
type mutexKey struct {
	client *framework.Client // its Root
	path   string            // its FullPath
}

const mutexKind = "lock-"

// NewInterProcessMutex returns the mutex with this path. It does not contact the server: a path that cannot be used is
// an error of every acquire. The path and what is missing above it are created with the first contender, as containers,
// which the server removes some time after the last.
func NewInterProcessMutex(c *framework.Client, path string) *InterProcessMutex {
	return &InterProcessMutex{
		key: mutexKey{c.Root(), c.FullPath(path)},
		loop: lockloop.Loop{
			Client: c,
			Path:   path,
			Kind:   mutexKind,
			Kinds:  []string{mutexKind},
			Admit:  lockloop.First(1),
			Data:   identity(),
		},
	}
}

// Acquire waits for the mutex and returns the lease that holds it. Under the context of a lease of this mutex it
// re-enters at once, without contacting the server; if that lease was lost, the error is the reason of the loss, until it
// is released.
//
// If ctx ends first, Acquire leaves the queue and returns an error that matches ctx.Err() and, if others were seen to
// be ahead, is a *NotAcquiredError. It waits through interruptions of the connection, keeping its place in the queue as
// long as the session lives and queueing again in the next session if it does not. Any other error, such as zk.ErrNoAuth
// or framework.ErrClosed, ends the wait at once. In no case is a node left behind.
func (m *InterProcessMutex) Acquire(ctx context.Context) (*Lease, error) {
	return m.acquire(ctx, m.loop.Acquire)
}

// TryAcquire is Acquire without waiting for other contenders: if there are any, it returns a *NotAcquiredError, which
// matches ErrNotAcquired. It still waits for the server's answers and, within the client's limits, for a connection.
func (m *InterProcessMutex) TryAcquire(ctx context.Context) (*Lease, error) {
	return m.acquire(ctx, m.loop.Try)
}

// queueFunc is a way of the lock loop to get a node admitted.
type queueFunc func(context.Context) (framework.Created, *lockloop.Refusal)

func (m *InterProcessMutex) acquire(ctx context.Context, queue queueFunc) (*Lease, error) {
	if err := framework.ValidatePath(m.loop.Path); err != nil {
		return nil, &framework.OpError{Op: "acquire", Path: m.loop.Path, Err: err}
	}
	if ctx.Err() != nil {
		return nil, &framework.OpError{Op: "acquire", Path: m.loop.Path, Err: retry.ContextError(ctx)}
	}
	if h := heldUnder(ctx, m.key); h != nil {
		switch lease, err := h.reenter(ctx); {
		case err != nil:
			return nil, &framework.OpError{Op: "acquire", Path: m.loop.Path, Err: err}
		case lease != nil:
			return lease, nil
		}
	}
	for {
		node, refusal := queue(ctx)
		if refusal != nil {
			return nil, m.refused(ctx, refusal)
		}
		if lease := claim(ctx, m.loop.Client, m.key, node); lease != nil {
			return lease, nil
		}
	}
}

// refused names those ahead, if they are the reason: not if the server has refused us, or could not be asked.
func (m *InterProcessMutex) refused(ctx context.Context, r *lockloop.Refusal) error {
	if r.Ahead > 0 && (r.Err == nil || ctx.Err() != nil) {
		return &NotAcquiredError{
			Path: m.loop.Path, Ahead: r.Ahead, Holder: r.Holder, Identity: readIdentity(r.HolderData), Err: r.Err,
		}
	}
	return &framework.OpError{Op: "acquire", Path: m.loop.Path, Err: r.Err}
}
