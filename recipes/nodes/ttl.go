package nodes

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// WithTTL makes a persistent node Curator's PersistentTtlNode: it outlives its
// session, and the process, by a time to live. It says "this process is alive"
// in a way that a restart does not interrupt. WithMode and WithProtection cannot
// be used with it, and members of groups cannot use it.
//
// The server deletes the node some time after nobody has touched it for the
// time to live: it looks once a minute, and so a much shorter time means
// nothing. The persistent node touches it three times within the time to live,
// and for the first time at once, by writing to a child named "touch". If it
// cannot, the node counts as lost after that time. The end of the session does
// not matter. Shutdown deletes neither: the node stays for its time to live, for
// the next process to take over. To end the registration at once, call
// Client.Delete after Shutdown, with framework.AnyVersion and
// framework.WithChildren, because the node has a child.
//
// A node that exists already is taken over, and gets our data; only an
// ephemeral node is in conflict with it. Two processes that use the same path
// both keep it alive. The servers need to be configured for such nodes
// (extendedTypesEnabled); others refuse to create them, which ends the
// persistent node.
//
// The time to live is at least a second, since each touch is a write, and at
// most what servers take, 34 years.
func WithTTL(ttl time.Duration) Option {
	return func(c *config) {
		c.ttl = ttl
		if ttl < shortestTTL || ttl > longestTTL {
			c.refuse("time to live", ttl.String(), fmt.Sprintf("must be from %v to %v", shortestTTL, longestTTL))
		}
	}
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

// validateName returns an error that matches zk.ErrInvalidPath if no child can
// have the name.
func validateName(name string) error {
	if name == "" || strings.Contains(name, "/") {
		return fmt.Errorf("%w: name %q must be that of a child", zk.ErrInvalidPath, name)
	}
	return framework.ValidatePath("/" + name)
}

// settleTTL makes the node one with a time to live, if there is one.
func (c *config) settleTTL() {
	switch {
	case c.ttl == 0 && c.touchName != "":
		c.refuse("option", "WithTouchName", "is for nodes with a time to live")
	case c.ttl == 0:
	case c.mode != framework.Ephemeral || c.protected:
		c.refuse("option", "WithMode or WithProtection", "is not for nodes with a time to live")
	default:
		c.mode, c.touchName = framework.PersistentTTL, cmp.Or(c.touchName, "touch")
	}
}
