package curatorz

import (
	"context"
	"fmt"
	"path"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locktrace"
)

// lock is one acquire, and then its hold. The page's mutex protects the fields below
// the first two.
type lock struct {
	page   *page
	client framework.Extension

	what    locktrace.Acquire
	path    string // the server's path for what.Path
	number  int    // in the order of the acquires
	since   time.Time
	granted time.Time // zero until the grant
	node    string    // the base name of the lock's node; empty if there is none
	token   int64
	revoked bool

	does    stage
	seen    time.Time // when the following fields were read; zero if never
	waiting locktrace.Waiting
}

// stage is the progress of an acquire.
type stage string

const (
	starting stage = "has no node yet"
	inLine   stage = "waits for others of this client"
	queued   stage = "has queued"
	blocked  stage = "waits at the server"
)

// StartAcquire implements locktrace.HookStartAcquire. Each lock of a multi-lock has its
// own acquire.
func (p *page) StartAcquire(ctx context.Context, a locktrace.Acquire) (context.Context, locktrace.AcquireTracer) {
	if a.Recipe == locktrace.RecipeMultiLock {
		return ctx, nil
	}
	l := &lock{page: p, client: rootOf(a.Client), what: a, path: fullPath(a.Client, a.Path),
		since: time.Now(), does: starting}
	l.change(func(r *record) {
		r.begun++
		l.number = r.begun
		r.locks[l] = struct{}{}
	})
	return ctx, acquire{l}
}

// change changes the lock, or the record of its client.
func (l *lock) change(do func(*record)) { l.page.change(l.client, do) }

// event returns a present event of the lock.
func (l *lock) event(name, text string) event {
	return event{at: time.Now(), name: name, path: l.path, kind: kindOf(l.what), text: text}
}

// acquire follows a lock until the acquire ends.
type acquire struct{ *lock }

func (acquire) Trace() map[string]string { return nil }

func (a acquire) QueuedLocally(ahead int) { a.stands(inLine, "", locktrace.Waiting{Position: ahead}) }

func (a acquire) Queued(q locktrace.Queued) {
	a.stands(queued, path.Base(q.Node), locktrace.Waiting{Position: q.Ahead})
}

func (a acquire) Waiting(w locktrace.Waiting) {
	a.stands(blocked, a.node, w)
	e := a.event("waiting", fmt.Sprintf("%d ahead", w.Position))
	if w.Holder.Node != "" {
		e.text += ", held by " + nodeName(w.Holder.Node)
	}
	a.change(func(r *record) { r.events.add(e) })
}

func (acquire) Woken(bool) {}

func (a acquire) Abandoned(error) { a.stands(starting, "", locktrace.Waiting{}) }

// stands records the progress of the acquire.
func (a acquire) stands(does stage, node string, w locktrace.Waiting) {
	now := time.Now()
	a.change(func(*record) {
		a.does, a.node, a.waiting, a.seen = does, node, w, now
	})
}

func (a acquire) Ended(end locktrace.AcquireEnd) {
	e := a.event("not acquired", "")
	after := " after " + duration(e.at.Sub(a.since))
	switch end.Outcome {
	case locktrace.Acquired:
		e.name, e.text = "acquired", after[1:]
	case locktrace.Failed:
		e.text, e.bad = "failed"+after, true
	default:
		e.text = words(string(end.Outcome)) + after
	}
	e = e.because(end.Err)
	a.change(func(r *record) {
		delete(r.locks, a.lock)
		r.events.add(e)
	})
}

func (a acquire) StartHold(h locktrace.Hold) locktrace.HoldTracer {
	now := time.Now()
	a.change(func(r *record) {
		a.granted, a.node, a.token = now, path.Base(h.Node), h.Token
		r.locks[a.lock] = struct{}{}
	})
	return hold(a)
}

// hold follows a lock until the hold ends.
type hold struct{ *lock }

func (hold) Context(ctx context.Context) context.Context { return ctx }

func (hold) Reentered() {}

func (h hold) Revoked() {
	e := h.event("revoked", "another client asks the holder to release it")
	h.change(func(r *record) {
		h.revoked = true
		r.events.add(e)
	})
}

func (h hold) Overrun() (returned func()) {
	e := h.event("overrun", "the leader's work continues after the end of the leadership")
	e.bad = true
	h.change(func(r *record) { r.events.add(e) })
	return nil
}

func (h hold) Ended(end locktrace.HoldEnd) {
	e := h.event("released", "held for "+duration(time.Since(h.granted)))
	switch {
	case end.Cause != locktrace.EndReleased:
		e.name, e.bad = "lost", true
	case framework.IsRefusal(end.Err):
		e.text, e.bad = e.text+", the node stays while the session lives", true
	case end.Err != nil:
		e.text, e.bad = e.text+", the node may exist until the client has deleted it, or the session ends", true
	}
	e = e.because(end.Err)
	h.change(func(r *record) {
		delete(r.locks, h.lock)
		r.events.add(e)
	})
}
