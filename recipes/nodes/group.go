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

// Group is a set of members, each with an id and a payload: Curator's group of
// GroupMembers. Use a Group to join, or to see who has joined without joining. A Group
// has no goroutine and need not be closed. It is safe for concurrent use.
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
// The members are the children of the path. They are ephemeral and named by their ids,
// like the nodes of Java Curator's GroupMember. A child that another program has created
// counts as a member.
type Group struct {
	client *framework.Client
	path   string

	mu   sync.Mutex                   // protects the following field
	mine map[string][]*PersistentNode // members that joined through this Group, by id; remove deletes them
}

// NewGroup returns a group, without contacting the server. If the client is nil or the
// path is invalid, every call returns an error.
func NewGroup(c *framework.Client, path string) *Group {
	return &Group{client: c, path: path, mine: map[string][]*PersistentNode{}}
}

// Join makes this process a member until Leave. The member's node is a PersistentNode,
// and Join waits until the node exists. If Join fails, or ctx ends first, there is no
// member, and the client deletes in the background what it has created.
//
// The id is the name of a child. If another client has a child with the same name, the
// nodes are in conflict, and Join waits; see WithConflictPolicy. A second Join with the
// same id in this client returns ErrInUse. The payload is copied. If the payload is nil,
// the node identifies the process instead: see Member.Identity. WithMode, WithProtection
// and WithTTL cannot be used.
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
	g.add(id, node) // other clients may see the node as soon as it starts
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

// suitsMembers reports whether the node can be a member's: the id is its name, and it
// ends with the session.
func (c *config) suitsMembers() bool {
	return c.mode == framework.Ephemeral && !c.protected
}

// add records a node of this Group. An earlier node with the same id may be about to
// vanish, and concurrent Joins add nodes that never start.
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

// isOwn reports whether the node with this id and owner belongs to a member that has
// joined through this Group and whose node still exists.
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

// GroupMember is a membership of this process. Group.Join returns one; the zero
// GroupMember cannot be used.
type GroupMember struct {
	id   string
	node *PersistentNode
}

// ID returns the id with which the member joined.
func (m *GroupMember) ID() string { return m.id }

// Node returns the member's node. Its Changes, Registration and Done report what happens
// to the membership.
func (m *GroupMember) Node() *PersistentNode { return m.node }

// Update replaces the member's payload; see PersistentNode.Set.
func (m *GroupMember) Update(ctx context.Context, payload []byte) error {
	return m.node.errorOf("update", m.node.set(ctx, payload))
}

// Leave ends the membership and deletes the member's node, as PersistentNode.Shutdown
// does. In an outage, Leave returns an error when ctx or the connection timeout is over,
// and the client deletes the node in the background; see "How a call ends a node" in the
// index of the recipes.
func (m *GroupMember) Leave(ctx context.Context) error {
	return m.node.errorOf("leave", m.node.shutdown(ctx))
}
