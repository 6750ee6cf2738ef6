package nodes

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// touches keeps a node with a time to live from being deleted by the server.
type touches struct {
	next    time.Time   // when the next touch is due
	overdue *time.Timer // tells that the server may have deleted the node; nil before the first touch
}

// touchParts is how often a node is touched within its time to live.
const touchParts = 3

// due returns a timer that fires when the next touch is due, or never.
func (t *touches) due(ttl time.Duration) *time.Timer {
	if ttl == 0 {
		never := time.NewTimer(time.Hour)
		never.Stop()
		return never
	}
	return time.NewTimer(max(0, time.Until(t.next)))
}

// done notes a touch. The times vary, so that processes that were started
// together do not touch together.
func (t *touches) done(sent time.Time, ttl time.Duration, lost func()) {
	t.stop()
	part := ttl / touchParts
	t.next = sent.Add(part - rand.N(part/4+1))
	t.overdue = time.AfterFunc(time.Until(sent.Add(ttl)), lost)
}

func (t *touches) stop() {
	if t.overdue != nil {
		t.overdue.Stop()
	}
}

// touchIfDue writes to the child that keeps the node alive, or creates it. It
// reports whether to look at the node again, because the node is gone.
func (k *keeper) touchIfDue(ctx context.Context) (again bool, err error) {
	if k.cfg.ttl == 0 || time.Now().Before(k.touched.next) {
		return false, nil
	}
	child := k.node + "/" + k.cfg.touchName
	sent := time.Now()
	_, err = k.client.Set(ctx, child, nil, framework.AnyVersion)
	if errors.Is(err, zk.ErrNoNode) {
		_, err = k.client.Create(ctx, child, nil, k.cfg.createOptions()...)
	}
	switch {
	case errors.Is(err, zk.ErrNoNode), errors.Is(err, zk.ErrNodeExists):
		return true, nil
	case err != nil:
		return false, err
	}
	if r, there := k.Registration(); there {
		k.touched.done(sent, k.cfg.ttl, func() { k.lost(r.Czxid, ErrNotTouched) })
	}
	return false, nil
}
