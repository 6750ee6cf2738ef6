package claim

import (
	"context"
	"sync"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/recipes/internal/trace"
)

// Claim is a claim to a lock or a leadership. It consists of nodes of one
// session: one node for most locks, several for a semaphore.
type Claim struct {
	terms   Terms
	nodes   []framework.Created
	watcher *watcher

	ctx context.Context // alive as long as the claim; the leases' contexts derive from it
	end context.CancelCauseFunc

	memberOf *members // those who hold the same nodes; nil for most claims

	mu       sync.Mutex // protects the following fields
	members  *members   // those who hold this claim's nodes; nil for most claims
	state    State
	shares   int             // the claim is given up at zero, and never taken again
	spent    bool            // see Spent
	spared   []func()        // take back what spare has done; nil before and after that
	stopped  func()          // only a leader's claim has it; see Lead
	place    Place           // may be nil
	trace    *trace.Hold     // may be nil
	asked    bool            // somebody asks for the lock
	requests context.Context // see requested; nil until somebody needs it
	request  context.CancelFunc
	over     chan struct{} // see Over; nil until the first call
	leftover error         // why a node may still exist: the error of the last deleteNodes
}

// Terms are what a lock sets for its claims.
type Terms struct {
	Client *framework.Client

	// Key finds the claim in the contexts of its leases.
	Key any

	// Revocable makes a request to give the lock up end the claim.
	Revocable bool

	// Data is the data of the nodes. It describes their owner.
	Data []byte

	// Own is the watch of the contender on the node, or nil. It is for a claim
	// to one node.
	Own *lockloop.OwnWatch

	// Token is the fencing token; if it is 0, that is the czxid of the last
	// node.
	Token int64
}

// Place is a claim's place among the goroutines of its process that want the
// same lock.
type Place interface {
	// PassOn hands the claim's nodes to the next goroutine, or keeps them for
	// one that comes later, if the lock's options allow it. It takes the
	// claim's [Claim.Successor] for that. Its requests end with ctx.
	PassOn(ctx context.Context, from *Claim) bool

	// Asked hears that somebody asks for the lock. Nobody may hold it.
	Asked()

	// Free lets the next goroutine have the place. Later calls do nothing.
	Free()
}

// New returns the claim to nodes that were admitted, without shares. It returns
// nil if the session was lost, or suspended, between the grant and now; the
// caller has to see to the nodes then.
func New(terms Terms, nodes ...framework.Created) *Claim {
	trusted := nodes[0].Session.Trusted(framework.Extend(terms.Client).ErrorPolicy())
	if trusted.Err() != nil {
		return nil
	}
	if terms.Token == 0 {
		terms.Token = nodes[len(nodes)-1].Czxid
	}
	c := &Claim{terms: terms}
	c.begin(trusted)
	c.watchNodes(trusted, nodes)
	c.watcher.heedOwn()
	if terms.Revocable {
		c.watcher.start()
	}
	return c
}

// Successor ends this claim's context, and returns the claim of another
// goroutine to the same nodes. It returns nil if the nodes should not be passed
// on: the session is over, or somebody has asked for the lock. A successor that no
// goroutine gets is to be dropped.
func (c *Claim) Successor() *Claim {
	defer c.end(ErrReleased)
	next := &Claim{terms: c.terms, nodes: c.nodes, watcher: c.watcher}
	next.begin(c.watcher.lifetime())
	if !c.watcher.serve(next) {
		next.Drop()
		return nil
	}
	return next
}

// Drop ends a successor that no goroutine gets, and leaves the nodes to the claim
// that it was to succeed. That may have another successor. Otherwise the context
// of the nodes, which may live for days, would know of this claim until its end.
func (c *Claim) Drop() { c.end(ErrReleased) }

// Unattended ends this claim's context, and returns a claim to the same nodes that no
// interruption of the connection ends: nobody works under it. It returns nil if the
// nodes are lost, or somebody has asked for the lock.
func (c *Claim) Unattended() *Claim {
	cause := context.Cause(c.ctx)
	if cause != nil && !reason.Is(cause, framework.ErrSuspended) || !c.sessionLives() || c.IsRequested() {
		return nil
	}
	c.watcher.forget()
	c.watcher.endKept()
	c.end(ErrReleased)
	session := c.nodes[0].Session.Context()
	next := &Claim{terms: c.terms}
	next.begin(session)
	next.watchNodes(session, c.nodes)
	return next
}

func (c *Claim) begin(trusted context.Context) {
	c.ctx, c.end = context.WithCancelCause(trusted)
}

// Nodes returns the claim's nodes, the oldest first.
func (c *Claim) Nodes() []framework.Created { return c.nodes }

// Token returns the fencing token.
func (c *Claim) Token() int64 { return c.terms.Token }

// Data returns the data of the nodes, which describes their owner.
func (c *Claim) Data() []byte { return c.terms.Data }

// HasNodes reports whether the claim's nodes are there, as far as it knows. When
// the holder is about to delete them by itself, they may be gone, and the claim
// still waits for the answer.
func (c *Claim) HasNodes() bool { return c.ctx.Err() == nil && !c.watcher.hasEnded() }

// Context ends when the claim does.
func (c *Claim) Context() context.Context { return c.ctx }

// Occupy gives the claim its place among the goroutines of the process. If the
// claim is lost already, the place is freed.
func (c *Claim) Occupy(p Place) {
	c.mu.Lock()
	c.place = p
	lost := c.state == Lost
	c.mu.Unlock()
	if lost {
		p.Free()
	}
	c.contextEnded() // perhaps nothing has called it yet
}

// Trace returns the trace of the hold, or nil.
func (c *Claim) Trace() *trace.Hold {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trace
}
