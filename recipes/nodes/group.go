package nodes

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/identity"
)

// Group is a set of members, each of which has an id and a payload: Curator's
// group of GroupMembers. A Group may be used to join, and to see who has
// joined; observers do not join. It has no goroutine and need not be closed. It
// is safe for concurrent use.
//
//	group := nodes.NewGroup(client, "/workers")
//	member, err := group.Join(ctx, "w-1", []byte("10.0.0.7:8080"))
//	if err != nil {
//		return err
//	}
//	defer member.Leave(ctx)
//	for view, err := range group.Changes(ctx) {
//		if err != nil {
//			return err
//		}
//		share(view.Members)
//	}
//
// The members are the children of the path, ephemeral and named by their ids:
// the nodes of Java Curator's GroupMember. A child that somebody else has made
// counts as a member.
type Group struct {
	client *framework.Client
	path   string

	mu   sync.Mutex                   // protects the following field
	mine map[string][]*PersistentNode // the members that have joined here, by id; remove removes one that is gone
}

// NewGroup returns a group, without contacting the server. A client or a path
// that cannot be used is an error of every call.
func NewGroup(c *framework.Client, path string) *Group {
	return &Group{client: c, path: path, mine: map[string][]*PersistentNode{}}
}

// Join makes this process a member, until Leave: the member's node is a
// PersistentNode. Join waits until it is there. If it fails, or ctx ends first,
// there is no member, and what was begun is undone in the background.
//
// The id is the name of a child. One that exists already is a conflict, for
// which Join waits; see WithConflictPolicy. To join again with an id of this
// client is ErrInUse. The payload is copied. If it is nil, the node says who
// the member is instead: see Member.Identity. WithMode, WithProtection and
// WithTTL cannot be used.
func (g *Group) Join(ctx context.Context, id string, payload []byte, opts ...Option) (*GroupMember, error) {
	if err := g.usable(); err != nil {
		return nil, g.errorOf("join", err)
	}
	if err := validateName(id); err != nil {
		return nil, g.errorOf("join", err)
	}
	if payload == nil {
		payload = identity.Node(identity.Own(framework.Extend(g.client).ServiceName()), time.Now(), nil)
	}
	cfg := newConfig(opts)
	if !cfg.suitsMembers() {
		cfg.refuse("option", "WithMode, WithProtection or WithTTL", "is not for members of a group")
	}
	node := newNode(g.client, znode.Join(g.path, id), payload, cfg)
	node.whenGone = func() { g.remove(id, node) }
	g.add(id, node) // others may see the node as soon as it starts
	if err := node.start(); err != nil {
		g.remove(id, node)
		return nil, node.errorOf("join", err)
	}
	m := &GroupMember{id: id, node: node}
	if _, err := node.waitRegistered(ctx); err != nil {
		over, cancel := context.WithCancel(context.WithoutCancel(ctx))
		cancel()
		node.Shutdown(over) // it does not wait
		return nil, node.errorOf("join", err)
	}
	return m, nil
}

// suitsMembers reports whether the node can be a member's: its name is the id,
// and it ends with the session.
func (c *config) suitsMembers() bool {
	return c.mode == framework.Ephemeral && !c.protected
}

// add notes a node of ours. One with the same id may be about to go, and Joins
// that race add nodes that never start.
func (g *Group) add(id string, node *PersistentNode) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mine[id] = append(g.mine[id], node)
}

func (g *Group) remove(id string, node *PersistentNode) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mine[id] = slices.DeleteFunc(g.mine[id], func(n *PersistentNode) bool { return n == node })
	if len(g.mine[id]) == 0 {
		delete(g.mine, id)
	}
}

// isOwn reports whether a node with this id and owner is of a member that has joined
// through this Group and whose node is not gone.
func (g *Group) isOwn(id string, owner int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(g.mine[id], func(n *PersistentNode) bool { return n.owners.Has(owner) })
}

func (g *Group) usable() error {
	if g.client == nil {
		return isNil("client")
	}
	return framework.ValidatePath(g.path)
}

func (g *Group) errorOf(op string, err error) error {
	if err == nil {
		return nil
	}
	return &framework.OpError{Op: op, Path: g.path, Err: err}
}

// GroupMember is a membership of this process. The zero GroupMember cannot be
// used: Group.Join makes one.
type GroupMember struct {
	id   string
	node *PersistentNode
}

// ID returns the id that the member has joined with.
func (m *GroupMember) ID() string { return m.id }

// Node returns the member's node: what becomes of the membership is told by its
// Changes, Registration and Done.
func (m *GroupMember) Node() *PersistentNode { return m.node }

// Update replaces the member's payload; see PersistentNode.Set.
func (m *GroupMember) Update(ctx context.Context, payload []byte) error {
	return m.node.errorOf("update", m.node.set(ctx, payload))
}

// Leave ends the membership; see PersistentNode.Shutdown.
func (m *GroupMember) Leave(ctx context.Context) error {
	return m.node.errorOf("leave", m.node.shutdown(ctx))
}
