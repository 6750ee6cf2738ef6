package lockloop

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// Observer is told how a place in the queue fares, by the goroutine that is in it. There may be several nodes, one after
// the other.
type Observer interface {
	// Queued: our node is in the queue, which is length long with it, behind so many.
	Queued(node framework.Created, ahead, length int)

	// Waiting: we wait for what is right ahead of us to change; in a crowd, that is nobody in particular.
	Waiting(ahead, holder Other)

	// Woken: something has changed. Gone says that who was right ahead has left.
	Woken(gone bool)

	// Abandoned: our node is given up, without a grant.
	Abandoned(reason error)
}

// Other is another contender: its node, and what is known of it.
type Other struct {
	Node  string // its name; empty if there is none, or it is not known
	Data  []byte // its beginning; nil if it was not read
	Since time.Time
}

func other(node string, data []byte, stat *zk.Stat) Other {
	return Other{Node: node, Data: Clip(data), Since: time.UnixMilli(stat.Ctime)}
}

func (p *place) queued(ahead, length int) {
	if p.loop.Observer == nil || p.told {
		return
	}
	p.told = true
	p.loop.Observer.Queued(p.node, ahead, length)
}

// waiting tells whom we wait for.
func (p *place) waiting(ahead Other) {
	if p.loop.Observer == nil {
		return
	}
	holder := ahead
	if p.seen.Holder != ahead.Node {
		holder = Other{Node: p.seen.Holder, Data: p.seen.HolderData, Since: p.seen.HolderSince}
	}
	p.loop.Observer.Waiting(ahead, holder)
}

// woken is called after a wait for a watch, with its outcome.
func (p *place) woken(err error, watch *framework.Watch) {
	if p.loop.Observer == nil || !errors.Is(err, errAgain) {
		return
	}
	p.loop.Observer.Woken(isGone(watch))
}

func isGone(watch *framework.Watch) bool {
	select {
	case <-watch.Done():
		event, err := watch.Event()
		return err == nil && event.Type == zk.EventNodeDeleted
	default:
		return false // something else has woken us
	}
}

func (p *place) abandoned(err error) {
	if p.loop.Observer == nil || errors.Is(err, errHeld) {
		return
	}
	if over := p.node.Session.Context(); errors.Is(err, errStale) && over.Err() != nil {
		err = context.Cause(over)
	}
	p.loop.Observer.Abandoned(err)
}
