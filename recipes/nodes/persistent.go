package nodes

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/broadcast"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/identity"
)

// PersistentNode is Curator's PersistentNode: a node that is there from
// NewPersistentNode to Shutdown, whatever happens to connections and sessions.
// By default it is ephemeral, so that it says "this process is alive". It is
// safe for concurrent use.
//
//	node, err := nodes.NewPersistentNode(client, "/workers/w-1", []byte("10.0.0.7"))
//	if err != nil {
//		return err
//	}
//	defer node.Shutdown(ctx)
//	if _, err := node.WaitRegistered(ctx); err != nil {
//		return err
//	}
//
// What happens to the node, and what follows:
//
//	the session is lost           the node is created in the next session, as
//	                              soon as there is one; if the server still has
//	                              the node of the lost session, that is
//	                              replaced, in one transaction
//	somebody deletes it           it is created again
//	somebody writes to it         it gets our data again
//	somebody else's node is in    WithConflictPolicy
//	the way
//	the server is in trouble      it is tried again, after pauses of up to 30
//	                              seconds
//	the server refuses it, such   the persistent node ends; see Err
//	as for want of rights
//
// An interruption that the session survives does nothing to the node.
type PersistentNode struct {
	client *framework.Client
	path   string // the one that NewPersistentNode was given
	cfg    config
	events event.Source
	wake   chan struct{} // capacity 1: there is new data
	life   follow.Life   // it is gone when the node is

	keeping, removal follow.Loop // the keeper's; others ask for their last error

	owners identity.Sessions // their nodes may be ours

	whenGone func() // it is called before the life is gone; or nil

	mu       sync.Mutex         // protects the following fields
	sets     uint64             // how often the data was set
	have     payload            // the data that the node has; only the keeper writes it; none if the node never was there
	pending  []*payload         // what the node is to have since then, the newest last
	now      *Registration      // nil if there is none
	madeIn   *framework.Session // an ephemeral node's: the newest in which it may have been created
	until    time.Time          // for a node with a time to live: when it may be gone
	conflict *ConflictError
	last     *broadcast.Node[Change]
	failure  error // why the life is over
	leftover error // what kept us from deleting the node
	late     []lateCreate

	registeredOnce bool // for tracers

	tracers []NodeTracer // what the hooks have returned; only their calls use it
}

// payload is the data of one Set.
type payload struct {
	data    []byte
	set     uint64 // counts from 1, which is the data of NewPersistentNode
	refused error  // protected by PersistentNode.mu
}

// maxPending bounds how much data is kept for the case that the server refuses
// later data.
const maxPending = 8

// NewPersistentNode makes a node exist from now on, until Shutdown. It does not
// wait, not even for a connection: WaitRegistered does. The path can be "/" only
// with WithProtection or a sequential mode. The data is copied. These are its
// errors:
//
//   - framework.ErrClosed if the client is closed.
//   - ErrInUse if another persistent node of this client has the path. After
//     the other's Shutdown, NewPersistentNode succeeds, and the node is created
//     when the other's is gone.
//   - zk.ErrInvalidPath, or zk.ErrBadArguments, for what cannot be used.
func NewPersistentNode(c *framework.Client, path string, data []byte, opts ...Option) (*PersistentNode, error) {
	n := newNode(c, path, data, newConfig(opts))
	if err := n.start(); err != nil {
		return nil, n.errorOf("new persistent node", err)
	}
	return n, nil
}

func newNode(c *framework.Client, path string, data []byte, cfg config) *PersistentNode {
	return &PersistentNode{
		client: c, path: path, cfg: cfg, events: event.Of(c, path),
		wake:    make(chan struct{}, 1),
		sets:    1,
		pending: []*payload{{data: bytes.Clone(data), set: 1}},
		last:    broadcast.New(Change{}),
	}
}

// start starts the keeper. A node is started once.
func (n *PersistentNode) start() error {
	if err := n.usable(); err != nil {
		return err
	}
	n.mu.Lock() // nothing is told before start has returned
	defer n.mu.Unlock()
	if err := pathsInUse.take(n, n.startAfter); err != nil {
		return err
	}
	n.tellStarted()
	return nil
}

// startAfter starts the keeper. If there is a node before this one, ours is
// created when that is gone.
func (n *PersistentNode) startAfter(before *PersistentNode) error {
	k := newKeeper(n, before)
	n.life = follow.Life{Client: n.client, Closed: ErrClosed, Run: k.run, Finish: k.finish, GaveUp: n.gaveUp}
	return n.life.Start()
}

// Set replaces the data of the node, and returns when the node has this data, or
// a later Set's. The data is copied. Set may be called while the node is not
// there: it is created with the data of the last Set.
//
// If ctx ends first, the error matches ctx.Err(), and the node gets the data
// later. If the server or the client refuses the data, such as for its size,
// that is the error. The node then gets the data that it had, or an earlier
// Set's that it was to get later. The persistent node keeps the data of eight such Sets.
//
// Set waits for one request. The node is looked at with another one, for which
// nobody waits: the write has used up the watch that waits for what others do to
// the node. The documentation of package shared says why no request is saved.
func (n *PersistentNode) Set(ctx context.Context, data []byte) error {
	return n.errorOf("set", n.set(ctx, data))
}

// Data returns the data that the node is to have: what the last Set was
// given that was not refused. It is shared: do not change it.
func (n *PersistentNode) Data() []byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.wantedLocked().data
}

func (n *PersistentNode) set(ctx context.Context, data []byte) error {
	asked, err := n.ask(data)
	if err != nil {
		return err
	}
	var refused error
	err = n.life.Wait(ctx, func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.have.set < asked.set && n.wantedLocked().set < asked.set {
			refused = cmp.Or(asked.refused, errDropped)
		}
		return refused != nil || n.have.set >= asked.set
	})
	return cmp.Or(refused, err)
}

// errDropped is the error of a Set whose data was dropped, if all later data was refused.
var errDropped = errors.New("the data was dropped for the data of later calls, which was refused")

// ask notes the data that the node is to have.
func (n *PersistentNode) ask(data []byte) (*payload, error) {
	if err := n.usable(); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failure != nil {
		return nil, n.failure
	}
	n.sets++
	asked := &payload{data: bytes.Clone(data), set: n.sets}
	n.pending = append(n.pending, asked)
	n.pending = n.pending[max(0, len(n.pending)-maxPending-1):]
	select {
	case n.wake <- struct{}{}:
	default:
	}
	return asked, nil
}

// wantedLocked returns the data that the node is to have.
func (n *PersistentNode) wantedLocked() payload {
	if last := len(n.pending) - 1; last >= 0 {
		return *n.pending[last]
	}
	return n.have
}

func (n *PersistentNode) wanted() payload {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.wantedLocked()
}

// wrote notes that the node has this data.
func (n *PersistentNode) wrote(p payload) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.have = p
	n.pending = slices.DeleteFunc(n.pending, func(e *payload) bool { return e.set <= p.set })
	n.life.Tell()
}

// refuse notes that the server has refused this data. It reports whether there
// is other data to go on with: a later Set's, an earlier one's that was not
// written, or what the node had.
func (n *PersistentNode) refuse(p payload, why error) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pending = slices.DeleteFunc(n.pending, func(e *payload) bool {
		if e.set == p.set {
			e.refused = why
		}
		return e.set == p.set
	})
	n.life.Tell()
	next := n.wantedLocked()
	return next.set != 0 && next.set != p.set
}

// Shutdown deletes the node, and returns nil when a server has said that it is gone.
// In an outage, Shutdown returns an error when ctx or the connection timeout is over,
// and the client deletes the node in the background; see "How a call ends a node" in
// the index of the recipes. A node with a time to live stays, and a node of another
// client is never deleted.
//
// If the server refuses the deletion, every Shutdown returns the server's error, and
// the node stays. If a server may still create a node that is not ephemeral, because
// the reply to an earlier create was lost with its session, the error matches
// framework.ErrOutcomeUnknown.
//
// Closing the client ends its persistent nodes, and deletes those that are ephemeral.
func (n *PersistentNode) Shutdown(ctx context.Context) error {
	return n.errorOf("shutdown", n.shutdown(ctx))
}

func (n *PersistentNode) shutdown(ctx context.Context) error {
	if err := n.usable(); err != nil {
		return err
	}
	n.end(ErrClosed)
	n.life.Stop()
	ending := n.removal.Ending(ctx, n.session())
	defer ending.Done()
	if !n.life.WaitGone(ending.Context()) {
		return ending.Err(n.session(), reason.OfContext(ending.Context()))
	}
	n.mu.Lock()
	leftover := n.leftover
	n.mu.Unlock()
	return cmp.Or(ending.Err(n.session(), leftover), n.mayCome(ctx))
}

// mayCome returns an error if a server may still create the node in a lost session, or
// may have done so since the removal. An ephemeral node ends with that session.
func (n *PersistentNode) mayCome(ctx context.Context) error {
	n.mu.Lock()
	late := slices.Clone(n.late)
	n.mu.Unlock()
	for _, l := range late {
		switch {
		case l.session.Context().Err() == nil:
			continue
		case !n.cfg.ephemeral():
			return framework.ErrOutcomeUnknown
		case l.isPast():
			continue
		}
		if err := l.session.AwaitEnd(ctx); err != nil {
			return err
		}
	}
	return nil
}

// session returns the session on which the node depends, or nil if it does not
// depend on one.
func (n *PersistentNode) session() *framework.Session {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.madeIn
}

// usable returns what is wrong with the arguments of NewPersistentNode.
func (n *PersistentNode) usable() error {
	if n.client == nil {
		return isNil("client")
	}
	if err := framework.ValidatePath(n.path); err != nil {
		return err
	}
	if n.path == "/" && !n.cfg.unique() {
		return fmt.Errorf("%w: the root cannot be created", zk.ErrInvalidPath)
	}
	return n.cfg.fault
}

func (n *PersistentNode) errorOf(op string, err error) error {
	if err == nil {
		return nil
	}
	var named *framework.OpError
	if reason.As(err, &named) && named.Path == n.path && named.Op == op {
		return err
	}
	return &framework.OpError{Op: op, Path: n.path, Err: err}
}

// pathsInUse has the persistent nodes of this process whose names others could
// have, too. Two of one client could not tell their nodes apart: an ephemeral
// node is recognised by its session.
var pathsInUse = registry{byKey: map[nodeKey]*PersistentNode{}}

// registry finds persistent nodes by client and path.
type registry struct {
	mu    sync.Mutex                  // protects the following field
	byKey map[nodeKey]*PersistentNode // leave removes a node that is gone
}

type nodeKey struct {
	client *framework.Client // the view that New returned
	path   string            // for that view
}

func keyOf(n *PersistentNode) nodeKey {
	return nodeKey{framework.Extend(n.client).Root().Client, framework.Extend(n.client).FullPath(n.path)}
}

// take starts a node, and reserves the path. The node is to be created after one
// that is being closed is gone, if there is one.
func (r *registry) take(n *PersistentNode, start func(before *PersistentNode) error) error {
	if n.cfg.unique() {
		return start(nil)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := keyOf(n)
	before := r.byKey[key]
	if before != nil && before.life.Err() == nil {
		return ErrInUse
	}
	err := start(before)
	if err == nil {
		r.byKey[key] = n
	}
	return err
}

// leave gives the path up, unless another node has taken it.
func (r *registry) leave(n *PersistentNode) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if key := keyOf(n); r.byKey[key] == n {
		delete(r.byKey, key)
	}
}
