package lockloop

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// refusal is what an attempt, and looks behind it, have seen of others. It does not
// change.
type refusal struct {
	at     time.Time // the end of the attempt
	seen   NotAdmitted
	looked bool             // a look has seen it
	watch  *framework.Watch // fires when the queue is another one than it was then; nil if nobody has set it
}

// noteRefusal notes that an attempt is over without a grant. It may not have
// seen the queue.
func (l *Loop) noteRefusal(r NotAdmitted) {
	if !r.Seen.IsZero() {
		l.setRefusal(refusalOf(time.Now(), r))
	}
}

// refusalOf returns a refusal without its error. That may have a cause of the
// caller's, who decides how long it is in memory.
func refusalOf(at time.Time, r NotAdmitted) *refusal {
	r.Err = nil
	return &refusal{at: at, seen: r}
}

// setRefusal notes the last refusal, or nil if the last attempt was not refused.
func (l *Loop) setRefusal(r *refusal) { l.refused.Swap(r).stop() }

// replaceRefusal is setRefusal if the last one is this. It reports whether it was.
func (l *Loop) replaceRefusal(last, r *refusal) bool {
	if !l.refused.CompareAndSwap(last, r) {
		return false
	}
	last.stop()
	return true
}

func (r *refusal) stop() {
	if r != nil {
		stopWatch(r.watch)
	}
}

func stopWatch(w *framework.Watch) {
	if w != nil {
		w.Stop()
	}
}

// noteLook notes what a look has seen. Its watch stays if others were ahead, as long
// as looks refuse.
func (l *Loop) noteLook(c *contender, refused bool) {
	last := c.refused
	r := refusalOf(last.at, c.seen)
	r.looked = true
	if refused {
		r.watch = c.lookWatch
	}
	if l.replaceRefusal(last, r) && r.watch != nil {
		c.lookWatch = nil
		time.AfterFunc(time.Until(r.at.Add(looksLast)), func() { l.replaceRefusal(r, nil) })
	}
}

// listCurrent lists the queue at a server that has caught up with its leader. The
// second look behind an attempt watches it, too: there may be a third one.
func (c *contender) listCurrent(ctx context.Context) (names []string, stat *zk.Stat, err error) {
	client, path := framework.Extend(c.loop.nodes.Client), c.loop.nodes.Path
	if !c.refused.looked {
		return client.CurrentSiblings(ctx, path)
	}
	names, stat, c.lookWatch, err = client.CurrentSiblingsW(ctx, path)
	return names, stat, err
}

// leaveWatch leaves the watch of a look that refuses nothing to the node that the
// attempt makes now: that fires it, which saves a request.
func (c *contender) leaveWatch() {
	if w := c.lookWatch; w != nil {
		c.lookWatch = nil
		time.AfterFunc(looksLast, w.Stop)
	}
}

// seesTheSame reports whether the queue is as the last look has seen it, so that
// this one sees the same. That takes a sync and no listing. If it fails, a listing
// would, too, and take as long again.
func (c *contender) seesTheSame(ctx context.Context) (same bool, err error) {
	if c.refused.watch == nil {
		return false, nil
	}
	c.isSame, err = framework.Extend(c.loop.nodes.Client).IsCurrent(ctx, c.refused.watch)
	if c.isSame {
		c.seen = c.refused.seen
		c.seen.Seen = time.Now()
	}
	return c.isSame, err
}
