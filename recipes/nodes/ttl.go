package nodes

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// PersistentTTLNode is Curator's PersistentTtlNode: a node that outlives its
// session, and the process, by a time to live. It says "this process is alive"
// in a way that a restart does not interrupt. It is safe for concurrent use.
//
// The server deletes the node some time after nobody has touched it for the
// time to live: it looks once a minute, and so a much shorter time means
// nothing. The persistent node touches it three times within the time to live,
// and for the first time at once, by writing to a child named "touch". Close
// deletes neither.
//
// A node that exists already is taken over, and gets our data; only an
// ephemeral node is in conflict with it. Two processes that use the same path
// both keep it alive. The servers need to be configured for such nodes
// (extendedTypesEnabled); others refuse to create them, which ends the
// persistent node.
type PersistentTTLNode struct{ node *PersistentNode }

// NewPersistentTTLNode returns a node that is not there yet. The time to live
// is at least a second: servers look once a minute, and each touch is a write.
// It is at most what servers take, 34 years. A client, a path or an option that cannot be used
// is an error of every call; WithMode and WithProtection cannot be used.
func NewPersistentTTLNode(
	c *framework.Client, path string, data []byte, ttl time.Duration, opts ...Option,
) *PersistentTTLNode {
	cfg := newConfig(opts)
	if cfg.mode != framework.Ephemeral || cfg.protected {
		cfg.refuse("option", "WithMode or WithProtection", "is not for nodes with a time to live")
	}
	if ttl < shortestTTL || ttl > longestTTL {
		cfg.refuse("time to live", ttl.String(), fmt.Sprintf("must be from %v to %v", shortestTTL, longestTTL))
	}
	cfg.mode, cfg.ttl, cfg.kept = framework.PersistentTTL, ttl, true
	if cfg.touchName == "" {
		cfg.touchName = "touch"
	}
	return &PersistentTTLNode{newNode(c, path, data, cfg)}
}

// The limits of a time to live. Servers keep the milliseconds in 40 bits.
const (
	shortestTTL = time.Second
	longestTTL  = (1<<40 - 1) * time.Millisecond
)

// WithTouchName sets the name of the child that keeps a node with a time to
// live alive. The default is "touch", as in Java.
func WithTouchName(name string) Option {
	return func(c *config) {
		c.touchName = name
		if err := validateName(name); err != nil {
			c.fault = err
		}
	}
}

// validateName returns an error that matches zk.ErrInvalidPath if a name cannot
// be that of a child.
func validateName(name string) error {
	if name == "" || strings.Contains(name, "/") {
		return fmt.Errorf("%w: name %q must be that of a child", zk.ErrInvalidPath, name)
	}
	return framework.ValidatePath("/" + name)
}

// Start is PersistentNode.Start.
func (n *PersistentTTLNode) Start() error { return n.persistent().Start() }

// Ready is PersistentNode.Ready.
func (n *PersistentTTLNode) Ready(ctx context.Context) (Registration, error) {
	return n.persistent().Ready(ctx)
}

// Registration is PersistentNode.Registration. The node is not there any more
// if it could not be touched for its time to live. The end of its session does
// not matter.
func (n *PersistentTTLNode) Registration() (Registration, bool) {
	return n.persistent().Registration()
}

// Set is PersistentNode.Set.
func (n *PersistentTTLNode) Set(ctx context.Context, data []byte) error {
	return n.persistent().Set(ctx, data)
}

// Changes is PersistentNode.Changes.
func (n *PersistentTTLNode) Changes(ctx context.Context) iter.Seq[Change] {
	return n.persistent().Changes(ctx)
}

// Close ends the touching. The node stays for its time to live, for the next
// process to take over.
func (n *PersistentTTLNode) Close(ctx context.Context) error { return n.persistent().Close(ctx) }

// Done is PersistentNode.Done.
func (n *PersistentTTLNode) Done() <-chan struct{} { return n.persistent().Done() }

// Err is PersistentNode.Err.
func (n *PersistentTTLNode) Err() error { return n.persistent().Err() }

// persistent returns the node, also for a PersistentTTLNode that was not made
// by NewPersistentTTLNode: all its calls are errors.
func (n *PersistentTTLNode) persistent() *PersistentNode {
	if n.node == nil {
		return &PersistentNode{}
	}
	return n.node
}
