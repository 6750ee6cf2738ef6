package nodes

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/random"
	"github.com/gocurator/curator/internal/reason"
)

// WithTTL makes a persistent node Curator's PersistentTtlNode: it outlives its
// session, and the process, by a time to live. It says "this process is alive"
// in a way that a restart does not interrupt. WithMode and WithProtection cannot
// be used with it, and members of groups cannot use it.
//
// The server deletes the node some time after nobody has touched it for the
// time to live: it looks once a minute, and so a much shorter time means
// nothing. The persistent node touches it three times within the time to live,
// by writing to a child named "touch", as in Java. The node counts as registered
// after the first touch, and as lost after a time to live without a touch. The end
// of the session does not matter. Shutdown deletes neither the node nor its child:
// the node stays for its time to live, for the next process to take over. To end
// the registration at once, call Client.Delete after Shutdown, with
// framework.AnyVersion and framework.WithChildren, because the node has a child.
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

// mayPause is the shortest time to live of which the longest pauses between
// attempts at a touch are no more than a tenth.
const mayPause = 5 * time.Minute

// settleTTL makes the node one with a time to live, if there is one.
func (c *config) settleTTL() {
	if c.ttl == 0 {
		return
	}
	if c.mode != framework.Ephemeral || c.protected {
		c.refuse("option", "WithMode or WithProtection", "is not for nodes with a time to live")
	}
	c.mode = framework.PersistentTTL
}

// touches keep a node with a time to live from being deleted by the server. Their
// times are of a clock that goes on while the machine is suspended.
type touches struct {
	czxid   int64       // the node's
	next    time.Time   // the next touch is due then
	until   time.Time   // the server may delete the node then
	overdue *time.Timer // notes that the server may have deleted the node; nil before the first touch
}

// isTouched reports whether the server keeps this node.
func (k *keeper) isTouched(czxid int64) bool {
	return k.touched.czxid == czxid && insider.Of(k.client).Clock().Before(k.touched.until)
}

// untilTouch returns for how long no touch of this node is due. The first one is due
// at once.
func (k *keeper) untilTouch(czxid int64) time.Duration {
	if k.touched.czxid != czxid {
		return 0
	}
	return k.touched.next.Sub(insider.Of(k.client).Clock())
}

// touch writes to the child that keeps the node alive, or creates it. It reports
// whether to look at the node again, because the node is gone. The times vary, so
// that processes that were started together do not touch together.
func (k *keeper) touch(ctx context.Context, czxid int64) (again bool, err error) {
	child, sent := k.node+"/touch", insider.Of(k.client).Clock()
	_, err = k.client.Set(ctx, child, nil, framework.AnyVersion)
	if reason.Is(err, zk.ErrNoNode) {
		_, err = k.client.Create(ctx, child, nil, k.cfg.createOptions()...)
	}
	switch {
	case reason.Is(err, zk.ErrNoNode), reason.Is(err, zk.ErrNodeExists):
		return true, k.surprises.Wait(ctx)
	case err != nil:
		return false, err
	}
	k.stopTouching()
	part := k.cfg.ttl / 3
	k.touched = touches{
		czxid: czxid, next: sent.Add(part - random.Duration(part/4+1)), until: sent.Add(k.cfg.ttl),
		overdue: time.AfterFunc(k.cfg.ttl-insider.Of(k.client).Clock().Sub(sent), k.notePast),
	}
	return false, nil
}

func (k *keeper) stopTouching() {
	if k.touched.overdue != nil {
		k.touched.overdue.Stop()
	}
}
