package nodes

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/random"
	"github.com/gocurator/curator/internal/reason"
)

// touches keeps a node with a time to live from being deleted by the server. Its
// times are of a clock that goes on while the machine is suspended.
type touches struct {
	clock   func() time.Time
	czxid   int64       // the node's
	next    time.Time   // the next touch is due then
	until   time.Time   // the server may delete the node then
	overdue *time.Timer // tells that the server may have deleted the node; nil before there is one
}

// touchParts is how often a node is touched within its time to live.
const touchParts = 3

// mayPause is the shortest time to live of which the longest pauses between
// attempts at a touch are no more than a tenth.
const mayPause = 5 * time.Minute

// due returns a timer that fires when the next touch is due, or never.
func (t *touches) due(ttl time.Duration) *time.Timer {
	if ttl == 0 {
		never := time.NewTimer(time.Hour)
		never.Stop()
		return never
	}
	return time.NewTimer(max(0, t.next.Sub(t.clock())))
}

// begin notes another node, whose first touch is due at once. The server may
// delete it at any time if it was found, and not made or written at a known time.
func (t *touches) begin(czxid int64, sent time.Time, ttl time.Duration, past func()) {
	t.czxid, t.next, t.until = czxid, time.Time{}, time.Time{}
	if !sent.IsZero() {
		t.expect(sent.Add(ttl), past)
	}
}

// expect calls past at a time, unless there is a touch before. A touch at that
// time may overtake the call.
func (t *touches) expect(until time.Time, past func()) {
	t.stop()
	t.until = until
	t.overdue = time.AfterFunc(until.Sub(t.clock()), past)
}

// isOverdue reports whether the server may have deleted the node.
func (t *touches) isOverdue() bool { return !t.clock().Before(t.until) }

// done notes a touch. The times vary, so that processes that were started
// together do not touch together.
func (t *touches) done(sent time.Time, ttl time.Duration, past func()) {
	part := ttl / touchParts
	t.next = sent.Add(part - random.Duration(part/4+1))
	t.expect(sent.Add(ttl), past)
}

func (t *touches) stop() {
	if t.overdue != nil {
		t.overdue.Stop()
	}
}

func (k *keeper) isTouchDue() bool {
	return k.cfg.ttl > 0 && !k.touched.clock().Before(k.touched.next)
}

// touchIfDue writes to the child that keeps the node alive, or creates it. It
// reports whether to look at the node again, because the node is gone.
func (k *keeper) touchIfDue(ctx context.Context) (again bool, err error) {
	if !k.isTouchDue() {
		return false, nil
	}
	child := k.node + "/" + k.cfg.touchName
	sent := k.touched.clock()
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
	k.touched.done(sent, k.cfg.ttl, k.notePast)
	k.settle(k.touched.czxid)
	return false, nil
}
