package queue

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/identity"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/recipes/locktrace"
)

// Queue is what a lock acquires claims with. It does not change, and is safe
// for concurrent use. All calls of the zero Queue return errors.
type Queue struct {
	cfg      Config
	boxed    any // the Key, for contexts
	loop     *lockloop.Loop
	places   *lockloop.Places // nil unless the configuration has a Count
	identity string           // the part of the nodes' data that stays the same
	local    *localKey        // the key of the queue in the process, or nil
}

// Key identifies a lock in the contexts of its leases. Locks of one kind for
// the same node and client are the same lock. The object, and the view of the
// client, do not matter.
type Key struct {
	client framework.Extension // its root view
	path   string
	kind   string
}

// New returns a queue. If the configuration is invalid, every call returns an
// error that says why.
func New(cfg Config) *Queue {
	if cfg.Kinds == nil {
		cfg.Kinds = []string{cfg.Kind}
	}
	if cfg.Name == "" {
		cfg.Name = cfg.Path
	}
	if err := framework.ValidatePath(cfg.Name); err != nil { // the other paths are made from this one
		cfg.Fault = err
	}
	q := &Queue{cfg: cfg}
	if cfg.Client == nil {
		return q
	}
	ext := framework.Extend(cfg.Client)
	q.boxed = Key{ext.Root(), ext.FullPath(cfg.Path), cfg.Kind}
	if !cfg.Anonymous {
		q.identity = identity.Own(ext.ServiceName())
	}
	nodes := lockloop.Nodes{Client: cfg.Client, Path: cfg.Path, Kind: cfg.Kind, Kinds: cfg.Kinds}
	order := cfg.Order
	order.Limit = cfg.QueueLimit
	q.loop = lockloop.ByOrder(nodes, order)
	if cfg.Count != nil {
		q.places = lockloop.ByCount(nodes, cfg.Count)
	}
	if cfg.Local {
		q.local = localKeyOf(q)
	}
	return q
}

// Client returns the client, or nil.
func (q *Queue) Client() *framework.Client { return q.cfg.Client }

// Key returns the key that finds the lock's claims in contexts. The zero Queue has
// the zero Key.
func (q *Queue) Key() Key {
	key, _ := q.boxed.(Key)
	return key
}

// Path returns the path of the node whose children are the contenders.
func (q *Queue) Path() string { return q.cfg.Path }

// Events returns the source of events of the lock, by the path that the user knows.
func (q *Queue) Events() event.Source { return event.OfLock(q.cfg.Client, q.cfg.Name) }

// Acquire re-enters, waits for the lock, or only tries.
func (q *Queue) Acquire(ctx context.Context, wait bool) (*claim.Lease, error) {
	if lease, err := q.Reenter(ctx); lease != nil || err != nil {
		return lease, err
	}
	return Traced(ctx, q.Describe(wait), q.Win)
}

// Describe describes an acquire for a tracer.
func (q *Queue) Describe(wait bool) locktrace.Acquire {
	return locktrace.Acquire{
		Client: q.cfg.Client, Recipe: q.cfg.Recipe, Name: q.cfg.Label, Path: q.cfg.Name,
		Shared: q.isShared(), Leases: 1, Try: !wait,
	}
}

// isShared reports whether the queue is of those that hold the lock together.
func (q *Queue) isShared() bool { return q.cfg.Readers == q.cfg.Kind }

// isReader reports whether a node is of those that hold the lock together.
func (q *Queue) isReader(node string) bool {
	return q.cfg.Readers != "" && lockloop.IsNode(node, q.cfg.Readers)
}

// Reenter returns another lease of the lock that ctx is under. It returns nil
// if there is none, or an error if the call is invalid.
func (q *Queue) Reenter(ctx context.Context) (*claim.Lease, error) {
	if err := q.Ready(ctx); err != nil {
		return nil, q.OpError(err)
	}
	lease, err := claim.Reenter(ctx, q.boxed)
	return lease, q.OpError(err)
}

// Ready checks a call before it does anything, and returns what is wrong with
// it.
func (q *Queue) Ready(ctx context.Context) error {
	if err := q.Usable(); err != nil {
		return err
	}
	if q.cfg.Fault != nil {
		return q.cfg.Fault
	}
	if ctx.Err() != nil {
		return reason.OfContext(ctx)
	}
	return nil
}

// Usable returns an error if there is no client, as in the zero Queue.
func (q *Queue) Usable() error {
	if q.cfg.Client == nil {
		return IsNil("client")
	}
	return nil
}

// Win waits for the lock, or only tries. The caller makes the claim's leases.
func (q *Queue) Win(ctx context.Context, a Attempt) (*claim.Claim, error) {
	if !a.Wait {
		if err := q.refuseFirst(ctx, a); err != nil {
			return nil, err
		}
	}
	if q.local != nil {
		return q.winLocally(ctx, a)
	}
	return q.winByItself(ctx, a)
}

// winByItself is winLocally for a lock whose goroutines all queue at the server.
func (q *Queue) winByItself(ctx context.Context, a Attempt) (*claim.Claim, error) {
	a = a.Remembering()
	c, refusal := q.winAtServer(ctx, a, q.InLoop(a))
	if refusal != nil {
		a.Recall(refusal)
		return nil, q.Refuse(ctx, refusal)
	}
	return c, nil
}

// winAtServer queues at the server until a node of ours is admitted, and can be
// trusted then.
func (q *Queue) winAtServer(ctx context.Context, a Attempt, at lockloop.Attempt) (*claim.Claim, *lockloop.NotAdmitted) {
	for {
		node, own, refusal := q.loop.Run(ctx, at)
		if refusal != nil {
			return nil, refusal
		}
		if c := claim.New(q.termsOf(at.Data, own), node); c != nil {
			return c, nil
		}
		claim.DeleteInBackground(q.cfg.Client, []framework.Created{node})
		a.Trace.Distrusted(q.cfg.Client, node)
		at.Trouble = nil // all was well then
	}
}

// Stand is Win for a candidate that stands for leader. Resume is the node of the
// leadership before, if the candidate has kept it, or nil. Stand also resumes a node
// that is admitted during an interruption, and does not give it up. The error is the
// lock loop's own.
func (q *Queue) Stand(ctx context.Context, at lockloop.Attempt) (*claim.Claim, error) {
	for {
		node, own, refusal := q.loop.Run(ctx, at)
		if refusal != nil {
			return nil, refusal.Err
		}
		if c := claim.New(q.termsOf(at.Data, own), node); c != nil {
			return c, nil
		}
		if own != nil {
			own.Watch.Stop() // the next run sets one of its own
		}
		at.Resume = &node
	}
}

// NewClaim returns the claim of nodes that were admitted. If they cannot be
// trusted any more, it has them deleted and returns nil.
func (q *Queue) NewClaim(data []byte, nodes ...framework.Created) *claim.Claim {
	c := claim.New(q.Terms(data), nodes...)
	if c == nil {
		claim.DeleteInBackground(q.cfg.Client, nodes)
	}
	return c
}

// Terms returns the terms of the queue's claims.
func (q *Queue) Terms(data []byte) claim.Terms {
	return claim.Terms{Client: q.cfg.Client, Key: q.boxed, Revocable: q.cfg.Revocable, Data: data}
}

func (q *Queue) termsOf(data []byte, own *lockloop.OwnWatch) claim.Terms {
	terms := q.Terms(data)
	terms.Own = own
	return terms
}

// InLoop returns an attempt for the lock loop.
func (q *Queue) InLoop(a Attempt) lockloop.Attempt {
	at := q.inLoop(a)
	at.OnBlocked = a.note
	return at
}

// inLoop is InLoop for attempts whose OnBlocked does more.
func (q *Queue) inLoop(a Attempt) lockloop.Attempt {
	return lockloop.Attempt{Wait: a.Wait, Data: q.NodeData(a), Observer: a.Trace.Observer()}
}

// Take takes places in a turn, for a queue that has a Count. See
// lockloop.Places.
func (q *Queue) Take(ctx context.Context, t lockloop.Turn, at lockloop.Attempt) ([]framework.Created, *lockloop.NotAdmitted) {
	return q.places.Take(ctx, t, at)
}

// LookFirst looks at the places before an attempt that does not wait. See
// lockloop.Places.LookFirst.
func (q *Queue) LookFirst(ctx context.Context, want lockloop.Wanted, at lockloop.Attempt) *lockloop.NotAdmitted {
	return q.places.LookFirst(ctx, want, at)
}

// NodeData returns the data of an attempt's nodes.
func (q *Queue) NodeData(a Attempt) []byte {
	if q.cfg.ExactData {
		return q.cfg.Data
	}
	return identity.Node(q.identity, a.Since, a.Trace.Link())
}
