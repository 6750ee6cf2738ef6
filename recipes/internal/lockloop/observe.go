package lockloop

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

// Observer is told of the progress of an attempt. An attempt may have several
// nodes, one after the other.
type Observer interface {
	// Queued says that our node is in the queue, with ahead contenders before
	// it. The length of the queue includes our node.
	Queued(node framework.Created, ahead, length int)

	// Waiting says that we wait for a change of the contender directly ahead,
	// with so many contenders before us at a time. Where places are counted, ahead
	// is the zero value.
	Waiting(position int, seen time.Time, ahead, holder Other)

	// Woken says that something has changed. The argument gone tells whether
	// the contender directly ahead has left.
	Woken(gone bool)

	// Abandoned says that our node is given up without a grant.
	Abandoned(reason error)
}

// Other is another contender: its node, and what we know of that.
type Other struct {
	Node  string // empty if there is none, or it is not known
	Data  []byte // the beginning of its data; nil if it was not read
	Since time.Time
}

func other(node string, data []byte, stat *zk.Stat) Other {
	return Other{Node: node, Data: Clip(data), Since: time.UnixMilli(stat.Ctime)}
}

func (c *contender) tellQueued(ahead, length int) {
	if c.attempt.Observer == nil || c.queued {
		return
	}
	c.queued = true
	c.attempt.Observer.Queued(c.node, ahead, length)
}

func (c *contender) tellWaiting(ahead Other) {
	if c.attempt.Observer == nil {
		return
	}
	holder := ahead
	if c.seen.Holder != ahead.Node {
		holder = Other{Node: c.seen.Holder, Data: c.seen.HolderData, Since: c.seen.HolderSince}
	}
	c.attempt.Observer.Waiting(c.seen.Ahead, c.seen.Seen, ahead, holder)
}

// tellWoken is called after a wait for a watch, with its outcome.
func (c *contender) tellWoken(err error, watch *framework.Watch) {
	if c.attempt.Observer == nil || !reason.Is(err, errAgain) {
		return
	}
	c.attempt.Observer.Woken(isGone(watch))
}

func isGone(watch *framework.Watch) bool {
	select {
	case <-doneOf(watch):
		event, err := watch.Event()
		return err == nil && event.Type == zk.EventNodeDeleted
	default:
		return false // another event has woken us
	}
}

func (c *contender) tellAbandoned(err error) {
	if c.attempt.Observer == nil || reason.Is(err, errHeld) {
		return
	}
	if over := c.node.Session.Context(); reason.Is(err, errStale) && over.Err() != nil {
		err = context.Cause(over)
	}
	c.attempt.Observer.Abandoned(err)
}
