package recipes

import (
	"context"
	"errors"
	"time"

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
	op    string // in errors: what the user has called
	name  string // in errors: the path that the user knows
	loop  lockloop.Loop
	key   lockKey
	cfg   lockConfig
	own   string    // the part of an Identity that stays the same
	local *localKey // of the queue in the process; nil if every goroutine queues at the server
}

// lockKey identifies a lock in the contexts of its leases. Locks of one kind for the same node and client are the same
// lock, whatever object or view of the client they were made with.
type lockKey struct {
	client *framework.Client
	path   string
	kind   string
}

// newLock returns a lock. The last option is the recipe's own.
func newLock(c *framework.Client, path, kind string, kinds []string, blocks lockloop.Blocks, opts []LockOption, last LockOption) lock {
	l := lock{op: "acquire", name: path}
	for _, opt := range opts {
		if opt == nil {
			l.cfg.fault = isNil("option")
			continue
		}
		opt(&l.cfg)
	}
	last(&l.cfg)
	if c == nil { // every call says so
		return l
	}
	l.key = lockKey{c.Root(), c.FullPath(path), kind}
	if !l.cfg.anonymous {
		l.own = ownIdentity(c.ServiceName())
	}
	l.loop = lockloop.Loop{
		Client: c,
		Path:   path,
		Kind:   kind,
		Kinds:  kinds,
		Blocks: blocks,
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
		return l.acquireLocally(ctx, a)
	}
	return l.claim(ctx, a, placeAtServer{})
}

// reenter returns another lease of the lock that ctx is under, or what is wrong, or nothing.
func (l *lock) reenter(ctx context.Context) (*Lease, error) {
	if err := l.ready(ctx); err != nil {
		return nil, l.opError(err)
	}
	lease, err := reenter(ctx, l.key)
	return lease, l.opError(err)
}

// usable reports that there is no client. There is none in a zero value, either.
func (l *lock) usable() error {
	if l.loop.Client == nil {
		return isNil("client")
	}
	return nil
}

// ready reports what is wrong before anything is done.
func (l *lock) ready(ctx context.Context) error {
	if err := l.usable(); err != nil {
		return err
	}
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

// placeAtServer has the functions that are told how an acquire gets on at the
// server. Each may be nil.
type placeAtServer struct {
	queued func()                 // there is a node
	note   func(lockloop.Refusal) // how things stand
}

// claim queues at the server until a node of ours is admitted, and still good
// then. The caller makes the claim's leases.
func (l *lock) claim(ctx context.Context, a attempt, place placeAtServer) (*hold, error) {
	inQueue := l.inQueue(a)
	inQueue.loop.Queued, inQueue.loop.Note = place.queued, place.note
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
		l.noteOutage(ctx, r)
		return l.notAcquired(r)
	}
	return l.opError(r.Err)
}

// noteOutage says that there is no connection, if that is so at the end of a wait: those ahead may not be to blame.
func (l *lock) noteOutage(ctx context.Context, r *lockloop.Refusal) {
	gaveUp := ctx.Err() != nil && errors.Is(r.Err, ctx.Err())
	if gaveUp && !l.loop.Client.State().IsConnected() && !framework.IsConnectionError(r.Err) {
		r.Err = l.whileConnecting(ctx)
	}
}

func (l *lock) notAcquired(r *lockloop.Refusal) *NotAcquiredError {
	e := &NotAcquiredError{
		Path: l.name, Ahead: r.Ahead, Holder: r.Holder, Identity: ReadIdentity(r.HolderData), Err: r.Err,
		Seen: r.Seen,
		Own:  r.HolderSession != 0 && r.HolderSession == l.loop.Client.SessionID(),
		op:   l.op, reenters: l.reenters(r.Holder),
	}
	if !r.Seen.IsZero() {
		e.age = time.Since(r.Seen)
	}
	return e
}

// reenters reports whether an acquire under the lease of a holder gets another lease. A writer under a reader would not.
func (l *lock) reenters(holder string) bool {
	switch l.cfg.recipe {
	case RecipeMutex:
		return true
	case RecipeReadWriteLock:
		return l.loop.Kind == readKind || !lockloop.IsNode(holder, readKind)
	default:
		return false
	}
}

func (l *lock) opError(err error) error {
	if err == nil {
		return nil
	}
	return &framework.OpError{Op: l.op, Path: l.name, Err: err}
}
