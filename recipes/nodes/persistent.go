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

// PersistentNode is Curator's PersistentNode: a node that exists from NewPersistentNode
// to Shutdown and survives lost connections and sessions. By default the node is
// ephemeral, so its existence says "this process is alive". PersistentNode is safe for
// concurrent use.
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
// This is how the persistent node reacts:
//
//	the session is lost           creates the node in the next session; if the
//	                              server still has the node of the lost session,
//	                              replaces that node in one transaction
//	another client deletes        creates the node again
//	the node
//	another client writes to      writes its own data again
//	the node
//	another client's node is      follows WithConflictPolicy
//	in the way
//	the server fails              retries, after pauses of up to 30 seconds
//	the server refuses the node,  ends; see Err
//	e.g. for lack of rights
//
// An interruption that the session survives does not affect the node.
//
// # When servers hang up
//
// If servers close the connection whenever the node's data is sent, for example because
// the data is longer than their jute.maxbuffer, the persistent node waits five minutes
// between two attempts, because each attempt interrupts the client's other requests.
// WaitRegistered, Set and LastError then return a *framework.HangUpError. A Set with
// shorter data ends the wait. Meanwhile, a node that had other data keeps that data, and
// is repaired with it.
//
// # Limits
//
// Java Curator's PersistentNode does not detect conflicts: Java writes its data into an
// existing node at the path, and deletes that node on close. This persistent node then
// restores its data, or re-creates its node.
//
// ZooKeeper's delete compares the version of a node, not its owner. The client therefore
// checks the owner first. The client deletes another client's node by mistake only if all
// of this happens between the check and the delete:
//
//   - The client's own node disappears: a third client deletes the node, or the node's
//     session ends while the client replaces the node in the next session.
//   - Another client creates a node at the same path.
//   - The new node has the same version as the old node.
//
// After a client of this package has waited for another client's node, or has replaced it,
// none of the client's own nodes gets the version that was last seen of the other node.
// The client remembers the last eight nodes of other clients.
//
// A stalled server may apply a request of a lost session late, until the servers end that
// session. Until then, Shutdown leaves the session's node to the servers, and does not
// repeat a delete whose reply was lost, so that a late delete finds no other node at the
// path. But a late write or replacement hits another client's node of the same version, if
// Shutdown has deleted the node of the client's next session meanwhile.
type PersistentNode struct {
	client *framework.Client
	path   string // the argument of NewPersistentNode
	cfg    config
	events event.Source
	wake   chan struct{} // capacity 1; a value means that there is new data
	life   follow.Life   // it is gone when the node is deleted

	keeping, removal follow.Loop // the keeper's; other goroutines read their last errors

	owners identity.Sessions // the sessions that may own this node

	whenGone func() // called before the life is gone; or nil

	mu       sync.Mutex         // protects the following fields
	sets     uint64             // how often the data was set
	have     payload            // the data of the node; only the keeper writes it; zero if the node never existed
	pending  []*payload         // data that is not written yet, the newest last
	now      *Registration      // nil unless the node is registered
	madeIn   *framework.Session // the newest session in which an ephemeral node may have been created
	until    time.Time          // when a node with a time to live may be gone
	conflict *ConflictError
	last     *broadcast.Node[Change]
	failure  error // why the persistent node has ended
	leftover error // why the node could not be deleted
	late     []lateRequest

	registeredOnce bool // for tracers

	tracers []NodeTracer // returned by the hooks; only the emitter uses them
}

// payload is the data of one Set.
type payload struct {
	data    []byte
	set     uint64 // counts from 1, which is the data of NewPersistentNode
	refused error  // protected by PersistentNode.mu
}

// maxPending bounds how much earlier data is kept in case the server refuses later data.
const maxPending = 8

// NewPersistentNode starts to keep a node, until Shutdown. It does not wait, not even for
// a connection; call WaitRegistered to wait for the node. The path can be "/" only with
// WithProtection or a sequential mode. The data is copied. NewPersistentNode returns
// these errors:
//
//   - framework.ErrClosed if the client is closed.
//   - ErrInUse if this client has another persistent node at the path. After the Shutdown
//     of the other one, NewPersistentNode succeeds, and the new node is created when the
//     old one is gone.
//   - zk.ErrInvalidPath for an invalid path, and zk.ErrBadArguments for another invalid
//     argument.
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

// start starts the keeper. It is called once.
func (n *PersistentNode) start() error {
	if err := n.usable(); err != nil {
		return err
	}
	n.mu.Lock() // no change is reported before start has returned
	defer n.mu.Unlock()
	if err := pathsInUse.take(n, n.startAfter); err != nil {
		return err
	}
	n.tellStarted()
	return nil
}

// startAfter starts the keeper. If before is not nil, the keeper creates its node when
// before is gone.
func (n *PersistentNode) startAfter(before *PersistentNode) error {
	k := newKeeper(n, before)
	n.life = follow.Life{Client: n.client, Closed: ErrClosed, Run: k.run, Finish: k.finish, GaveUp: n.gaveUp}
	return n.life.Start()
}

// Set replaces the data of the node. It returns when the node has this data, or the data
// of a later Set. The data is copied. If the node does not exist at the moment, it will
// be created with the data of the last Set.
//
// If ctx ends first, the error matches ctx.Err(), and the node gets the data later. If
// the server or the client refuses the data, for example because of its size, Set returns
// that error, and the node keeps or gets the data of an earlier Set. The persistent node
// keeps the data of eight such Sets.
//
// Set waits for one request. Afterwards the client re-reads the node in the background,
// because the write has triggered the watch for other clients' changes.
func (n *PersistentNode) Set(ctx context.Context, data []byte) error {
	return n.errorOf("set", n.set(ctx, data))
}

// Data returns the data that the node has or will get: the data of the last Set that was
// not refused. It is shared: do not change it.
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

// ask queues the data for the keeper.
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

// wantedLocked returns the data that the node should have.
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

// wrote notes that the node has this data now.
func (n *PersistentNode) wrote(p payload) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.have = p
	n.pending = slices.DeleteFunc(n.pending, func(e *payload) bool { return e.set <= p.set })
	n.life.Tell()
}

// refuse notes that the server has refused this data. It reports whether there is other
// data to write: the data of a later Set, of an earlier Set that was not written, or the
// data that the node had.
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

// Shutdown deletes the node, and returns nil when a server has confirmed that the node is
// gone. In an outage, Shutdown returns an error when ctx or the connection timeout is
// over, and the client deletes the node in the background; see "How a call ends a node"
// in the index of the recipes. The servers delete the node of a lost session; Shutdown
// deletes neither that node nor a node with a time to live. Shutdown leaves the nodes of
// other clients alone, with the one exception that the limits of PersistentNode describe.
//
// If the server refuses the deletion, every Shutdown returns the server's error, and the
// node remains. If a server may still create a node that is not ephemeral, because the
// reply to an earlier create was lost together with its session, the error matches
// framework.ErrOutcomeUnknown.
//
// Closing the client ends its persistent nodes, and deletes the ephemeral ones. If the
// servers refuse the client's credentials, the client deletes the node as soon as a server
// accepts them.
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
// may have created it after the removal. The end of that session deletes an ephemeral
// node.
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

// session returns the session on which the node depends. It is nil if the node is not
// ephemeral.
func (n *PersistentNode) session() *framework.Session {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.madeIn
}

// usable returns the error of an invalid argument of NewPersistentNode.
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

// pathsInUse has the persistent nodes of this process, except those with unique names.
// Two persistent nodes of one client and path could not tell their ephemeral nodes apart,
// because the session identifies the owner.
var pathsInUse = registry{byKey: map[nodeKey]*PersistentNode{}}

// registry finds persistent nodes by client and path.
type registry struct {
	mu    sync.Mutex                  // protects the following field
	byKey map[nodeKey]*PersistentNode // leave removes a node when it is gone
}

type nodeKey struct {
	client *framework.Client // the client that New returned
	path   string            // as seen by that client
}

func keyOf(n *PersistentNode) nodeKey {
	return nodeKey{framework.Extend(n.client).Root().Client, framework.Extend(n.client).FullPath(n.path)}
}

// take reserves the path and starts the node. If an earlier node of the path is being
// closed, the new node is created after the earlier one is gone.
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

// leave frees the path, unless another node has taken it.
func (r *registry) leave(n *PersistentNode) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if key := keyOf(n); r.byKey[key] == n {
		delete(r.byKey, key)
	}
}
