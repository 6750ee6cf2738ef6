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

// WithTTL makes a persistent node Curator's PersistentTtlNode: the node outlives its
// session and its process by a time to live. The node says "this process is alive", and
// survives a restart of the process. WithMode and WithProtection cannot be combined with
// WithTTL, and a member of a group cannot have it.
//
// The server deletes the node when no client has touched it for the time to live. Servers
// check once a minute, so a much shorter time has no effect. The persistent node touches
// its node three times within the time to live, by writing to a child named "touch", as
// Java Curator does. The node counts as registered after the first touch, and as lost
// after a time to live without a touch. The end of the session does not matter. Shutdown
// deletes neither the node nor its child: the node remains for its time to live, so that
// the next process can take it over. To end the registration at once, call Client.Delete
// after Shutdown, with framework.AnyVersion and framework.WithChildren, because the node
// has a child.
//
// An existing node is taken over and gets this node's data; only an existing ephemeral
// node is a conflict. If two processes use the same path, both keep the node alive.
// Servers must be configured for nodes with a time to live (extendedTypesEnabled). Other
// servers refuse to create the node, which ends the persistent node.
//
// The time to live is at least a second, because each touch is a write, and at most 34
// years, the limit of the servers.
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

// mayPause is ten times the longest pause between attempts at a touch. With a shorter time to
// live, such a pause would take more than a tenth of the time to live.
const mayPause = 5 * time.Minute

// settleTTL sets the mode of a node with a time to live.
func (c *config) settleTTL() {
	if c.ttl == 0 {
		return
	}
	if c.mode != framework.Ephemeral || c.protected {
		c.refuse("option", "WithMode or WithProtection", "is not for nodes with a time to live")
	}
	c.mode = framework.PersistentTTL
}

// touches keep the server from deleting a node with a time to live. The times are of a
// clock that keeps running while the machine is suspended.
type touches struct {
	czxid   int64       // of the node
	next    time.Time   // when the next touch is due
	until   time.Time   // when the server may delete the node
	overdue *time.Timer // reports that the server may have deleted the node; nil before the first touch
}

// isTouched reports whether the last touch still keeps this node alive.
func (k *keeper) isTouched(czxid int64) bool {
	return k.touched.czxid == czxid && insider.Of(k.client).Clock().Before(k.touched.until)
}

// untilTouch returns the time until the next touch of this node. The first touch is due
// at once.
func (k *keeper) untilTouch(czxid int64) time.Duration {
	if k.touched.czxid != czxid {
		return 0
	}
	return k.touched.next.Sub(insider.Of(k.client).Clock())
}

// touch writes to the child that keeps the node alive, or creates the child. It returns
// true if the node is gone and must be re-read. The intervals vary, so that processes
// that start together do not touch together.
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
