package seat

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/identity"
	"github.com/gocurator/curator/recipes/internal/order"
	"github.com/gocurator/curator/recipes/internal/trace"
	"github.com/gocurator/curator/recipes/locktrace"
)

// Lock acquires holds for a recipe. It has the configuration, and what earlier attempts
// have left for later ones. It is safe for concurrent use. All calls of the zero Lock
// return errors.
type Lock struct {
	cfg      Config
	boxed    any    // the Key, for contexts
	newNode  string // the path for creating a contender's node
	identity string // the constant part of the nodes' data

	*remembered
}

// remembered is what the attempts of a lock object leave for later attempts.
type remembered struct {
	warned        atomic.Bool             // see warnOfOthers
	warnedUnowned atomic.Bool             // see noteOwner
	refused       atomic.Pointer[refusal] // of the last attempt; nil unless it was refused
}

// Key identifies a lock in the contexts of its leases. Locks of one kind for the same
// node and client have the same key, even if the objects and the views of the client
// differ.
type Key struct {
	client framework.Extension // the root view
	path   string
	kind   string
}

// New returns a lock. If the configuration is invalid, every call returns an error.
func New(cfg Config) *Lock {
	if cfg.Kazoo {
		cfg.Kind, cfg.Kinds = order.KazooKinds[0], order.KazooKinds
	}
	if cfg.Kinds == nil {
		cfg.Kinds = []string{cfg.Kind}
	}
	if cfg.Name == "" {
		cfg.Name = cfg.Path
	}
	if err := framework.ValidatePath(cfg.Name); err != nil { // the other paths are derived from this one
		cfg.Fault = err
	}
	l := &Lock{cfg: cfg, remembered: &remembered{}}
	if cfg.Client == nil {
		return l
	}
	ext := framework.Extend(cfg.Client)
	l.boxed = Key{ext.Root(), ext.FullPath(cfg.Path), cfg.Kind}
	l.newNode = znode.Join(cfg.Path, cfg.Kind)
	if !cfg.Anonymous {
		l.identity = identity.Own(ext.ServiceName())
	}
	return l
}

// Client returns the client, or nil.
func (l *Lock) Client() *framework.Client { return l.cfg.Client }

// Key returns the key of the lock's holds in contexts. The zero Lock has the zero Key.
func (l *Lock) Key() Key {
	key, _ := l.boxed.(Key)
	return key
}

// Path returns the parent of the contenders' nodes.
func (l *Lock) Path() string { return l.cfg.Path }

// HasMinimumHold reports whether the lock stays for a while after a release.
func (l *Lock) HasMinimumHold() bool { return l.cfg.MinimumHold > 0 }

// Events returns the source of the lock's events, with the path that the user knows.
func (l *Lock) Events() event.Source { return event.OfLock(l.cfg.Client, l.cfg.Name) }

// Acquire re-enters if ctx is under a lease of the lock. Otherwise it waits for the lock,
// or only tries.
func (l *Lock) Acquire(ctx context.Context, wait bool) (*Lease, error) {
	if lease, err := l.Reenter(ctx); lease != nil || err != nil {
		return lease, err
	}
	return Traced(ctx, l.Describe(wait), l.Win)
}

// Describe describes an acquire for a tracer.
func (l *Lock) Describe(wait bool) locktrace.Acquire {
	return locktrace.Acquire{
		Client: l.cfg.Client, Recipe: l.cfg.Recipe, Name: l.cfg.Label, Path: l.cfg.Name,
		Shared: l.isShared(), Leases: 1, Try: !wait,
	}
}

// isShared reports whether the holders of the lock share it.
func (l *Lock) isShared() bool { return l.cfg.Readers == l.cfg.Kind }

// Reenter returns another lease of the lock if ctx is under one. Otherwise it returns
// nil, or an error if the call is invalid.
func (l *Lock) Reenter(ctx context.Context) (*Lease, error) {
	if err := l.Ready(ctx); err != nil {
		return nil, l.OpError(err)
	}
	lease, err := Reenter(ctx, l.boxed)
	return lease, l.OpError(err)
}

// Ready returns the error of an invalid call, before the call does anything.
func (l *Lock) Ready(ctx context.Context) error {
	if err := l.Usable(); err != nil {
		return err
	}
	if l.cfg.Fault != nil {
		return l.cfg.Fault
	}
	return stillWanted(ctx)
}

// Usable returns an error if there is no client, as in the zero Lock.
func (l *Lock) Usable() error {
	if l.cfg.Client == nil {
		return IsNil("client")
	}
	return nil
}

// Win waits for the lock, or only tries. The caller creates the hold's leases.
func (l *Lock) Win(ctx context.Context, a Attempt) (*Hold, error) {
	key := laneKeyOf(l)
	if !a.Wait && lanes.find(key, false) == nil { // an existing lane knows more than a read of the queue
		if r := l.readFirst(ctx, a, l.judgeQueue); r != nil {
			return nil, l.Refuse(ctx, r)
		}
	}
	w := &waiter{of: l, tries: !a.Wait}
	q, ahead := lanes.arrive(key, w)
	return q.serve(ctx, a, w, ahead)
}

// NodeData returns the data of an attempt's nodes.
func (l *Lock) NodeData(a Attempt) []byte {
	if l.cfg.ExactData {
		return l.cfg.Data
	}
	return identity.Node(l.identity, a.Since, a.Trace.Link())
}

// OpError adds the lock's call and path to an error.
func (l *Lock) OpError(err error) error { return l.ErrorOf(l.cfg.Op, err) }

// ErrorOf is OpError for another call than the acquire.
func (l *Lock) ErrorOf(op string, err error) error {
	if err == nil {
		return nil
	}
	return &framework.OpError{Op: op, Path: l.cfg.Name, Err: err}
}

// Stand is Win for a candidate for leadership. The argument resume is the node of the
// previous leadership, or has no path if the candidate has kept no node. If an
// interruption comes right after the grant, Stand resumes the node instead of deleting
// it. It returns the error of the driver unchanged.
func (l *Lock) Stand(ctx context.Context, a Attempt, resume framework.Created, by Candidate) (*Hold, error) {
	for {
		c := newContender(l, a)
		c.Candidate, c.recovery.Tell, c.node = by, by.OnError, resume
		if refusal := c.run(ctx); refusal != nil {
			return nil, refusal.Err
		}
		if h := newHold(l, c.data, c.own, c.node); h != nil {
			return h, nil
		}
		if c.own != nil {
			c.own.watch.Stop() // the next run sets another watch
		}
		resume = c.node
	}
}

// Candidate has the callbacks of a candidate for leadership. Each may be nil.
type Candidate struct {
	OnBlocked func(NotAdmitted) // the candidate has to wait
	OnError   func(error)
	OnAbandon func(ctx context.Context, node framework.Created) // deletes the node when the candidate gives up
}

func (l *Lock) terms() terms { return terms{l.cfg.Client, l.boxed, l.cfg.Revocable, l.cfg.Waits} }

// Attempt is one acquire: its options, and its trace.
type Attempt struct {
	Wait  bool
	Since time.Time
	Trace *trace.Acquire // may be nil
}

// Traced traces an acquire from its beginning to its end, and starts the trace of the
// hold. The lease has the values of ctx, without the values that tracing adds for the
// acquire.
func Traced(
	ctx context.Context, a locktrace.Acquire, win func(context.Context, Attempt) (*Hold, error),
) (lease *Lease, err error) {
	since := time.Now()
	during, told := trace.StartAcquire(ctx, a)
	h, err := win(during, Attempt{Wait: !a.Try, Since: since, Trace: told})
	if err != nil {
		told.Ended(EndOf(nil, err))
		return nil, err
	}
	won := h.LeaseOf(ctx)
	defer func() {
		if lease == nil { // a hook has panicked
			won.Release(ctx)
		}
	}()
	told.Ended(EndOf(h, nil))
	h.startTrace(won, a, told)
	return won, nil
}
