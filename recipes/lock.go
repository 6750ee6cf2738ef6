package recipes

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/retry"
)

// Locker is a lock of this package that can be one of several in an InterProcessMultiLock.
type Locker interface {
	Acquire(ctx context.Context) (*Lease, error)
	TryAcquire(ctx context.Context) (*Lease, error)
}

// lock is what the lock recipes have in common: a way into the queue, and what becomes of the node that is admitted.
type lock struct {
	name  string // in errors: the path that the user knows
	loop  lockloop.Loop
	key   lockKey
	cfg   lockConfig
	own   string      // the part of an Identity that stays the same
	local *localQueue // of the goroutines that share this object; nil if they all queue at the server
}

// lockKey identifies a lock in the contexts of its leases. Locks of one kind for the same node and client are the same
// lock, whatever object or view of the client they were made with.
type lockKey struct {
	client *framework.Client
	path   string
	kind   string
}

// newLock returns a lock. The last option is the recipe's own.
func newLock(c *framework.Client, path, kind string, kinds []string, admit lockloop.Admit, opts []LockOption, last LockOption) lock {
	l := lock{name: path, key: lockKey{c.Root(), c.FullPath(path), kind}}
	for _, opt := range opts {
		if opt == nil {
			l.cfg.invalid = "an option is nil"
			continue
		}
		opt(&l.cfg)
	}
	last(&l.cfg)
	if !l.cfg.anonymous {
		l.own = ownIdentity(c.ServiceName())
	}
	l.loop = lockloop.Loop{
		Client: c,
		Path:   path,
		Kind:   kind,
		Kinds:  kinds,
		Admit:  admit,
		Limit:  l.cfg.queueLimit,
	}
	return l
}

// acquire waits for the lock, or only tries.
func (l *lock) acquire(ctx context.Context, wait bool) (*Lease, error) {
	if lease, err := l.reenter(ctx); lease != nil || err != nil {
		return lease, err
	}
	return traced(ctx, l.describe(wait), l.win)
}

// describe tells a tracer of an acquire.
func (l *lock) describe(wait bool) Acquire {
	return Acquire{
		Client: l.loop.Client, Recipe: l.cfg.recipe, Name: l.cfg.name, Path: l.name, Shared: l.loop.Kind == readKind,
		Leases: 1, Try: !wait,
	}
}

// win waits for the lock, or only tries.
func (l *lock) win(ctx context.Context, a attempt) (*hold, error) {
	if l.local != nil {
		return l.local.acquire(ctx, a)
	}
	return l.claim(ctx, a, nil)
}

// reenter returns another lease of the lock that ctx is under, or what is wrong, or nothing.
func (l *lock) reenter(ctx context.Context) (*Lease, error) {
	if err := l.ready(ctx); err != nil {
		return nil, l.opError(err)
	}
	lease, err := reenter(ctx, l.key)
	return lease, l.opError(err)
}

// ready reports what is wrong before anything is done.
func (l *lock) ready(ctx context.Context) error {
	if err := framework.ValidatePath(l.loop.Path); err != nil {
		return err
	}
	if err := l.cfg.validate(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return retry.ContextError(ctx)
	}
	return nil
}

// claim queues at the server until a node of ours is admitted, and still good then. Whoever gets the claim makes its
// leases. Queued, if it is not nil, is called when there is a node.
func (l *lock) claim(ctx context.Context, a attempt, queued func()) (*hold, error) {
	inQueue := l.inQueue(a)
	inQueue.loop.Queued = queued
	for {
		node, refusal := inQueue.queue(ctx, a.wait)
		if refusal != nil {
			return nil, l.refused(ctx, refusal)
		}
		if h := newHold(l.loop.Client, l.key, l.cfg.revocable, node); h != nil {
			h.data = inQueue.loop.Data
			return h, nil
		}
		a.trace.distrusted(l.loop.Client, node)
	}
}

// inQueue returns the lock as it is for one attempt.
func (l *lock) inQueue(a attempt) lock {
	one := *l
	one.loop.Data = l.nodeData(a)
	one.loop.Observer = a.trace.observer()
	return one
}

// fullPath is the lock's path in logs.
func (l *lock) fullPath() string { return l.loop.Client.FullPath(l.name) }

// nodeData is what the nodes of an attempt say of us.
func (l *lock) nodeData(a attempt) []byte {
	if l.cfg.exactData {
		return l.cfg.data
	}
	return nodeIdentity(l.own, a.since, a.trace.link())
}

func (l *lock) queue(ctx context.Context, wait bool) (framework.Created, *lockloop.Refusal) {
	if wait {
		return l.loop.Acquire(ctx)
	}
	return l.loop.Try(ctx)
}

// refused names those ahead, if they are the reason: not if the server has refused us, or could not be asked. There may be
// none: a semaphore's limit can be zero.
func (l *lock) refused(ctx context.Context, r *lockloop.Refusal) error {
	if r.Full && r.Err == nil {
		r.Err = ErrQueueFull
	}
	if r.Err == nil || r.Ahead > 0 && (r.Full || ctx.Err() != nil) {
		return &NotAcquiredError{
			Path: l.name, Ahead: r.Ahead, Holder: r.Holder, Identity: ReadIdentity(r.HolderData), Err: r.Err,
		}
	}
	return l.opError(r.Err)
}

func (l *lock) opError(err error) error {
	if err == nil {
		return nil
	}
	return &framework.OpError{Op: "acquire", Path: l.name, Err: err}
}
