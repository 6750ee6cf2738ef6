package lockloop

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

// blocker is a node that contenders wait for, with a watch on it.
type blocker struct {
	node  string
	data  []byte
	stat  *zk.Stat
	watch *framework.Watch

	// These are for a blocker that a crowd shares.
	ready    chan struct{} // closed when the fields above are set, and the next two
	err      error
	complete bool     // the contender that has made the request did not give up meanwhile
	waiting  int      // contenders; protected by the crowd, like the next field
	after    *listing // the first one that was sent after the end of the watch, or nil
}

// hasEnded reports whether there is nothing to wait for any more.
func (b *blocker) hasEnded() bool {
	select {
	case <-b.ready:
	default:
		return false
	}
	if !b.complete || b.err != nil {
		return true
	}
	select {
	case <-b.watch.Done():
		return true
	default:
		return false
	}
}

// readFunc reads the node of a blocker, with a watch that ends with a context.
type readFunc func(under context.Context, b *blocker) error

// wait returns the blocker of a node. The caller must leave it. The first who
// needs it sets the watch, by reading the node.
func (w *Crowd) wait(ctx context.Context, node string, read readFunc) (*blocker, error) {
	for {
		b, err := w.tryWait(ctx, node, read)
		if b == nil || b.complete {
			return b, err
		}
	}
}

// tryWait is wait, but returns a blocker that is not complete if the contender
// that was to set the watch has given up.
func (w *Crowd) tryWait(ctx context.Context, node string, read readFunc) (_ *blocker, err error) {
	b, first := w.share(node)
	waits := false
	defer func() {
		if !waits { // there is an error, or the user's code has panicked, such as a tracer
			w.leave(b)
		}
	}()
	if first {
		w.set(ctx, b, read)
	}
	select {
	case <-b.ready:
	case <-ctx.Done():
		return nil, reason.OfContext(ctx)
	}
	if b.complete && b.err != nil || first && !b.complete {
		return nil, b.err
	}
	waits = b.complete
	return b, nil
}

// share returns the blocker of a node, and reports true if the caller must set
// its watch.
func (w *Crowd) share(node string) (b *blocker, first bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if b = w.blockers[node]; b == nil || b.hasEnded() {
		b, first = &blocker{node: node, ready: make(chan struct{})}, true
		if w.blockers == nil {
			w.blockers = map[string]*blocker{}
		}
		w.blockers[node] = b
	}
	b.waiting++
	return b, first
}

// leave ends one contender's wait for a blocker. The last withdraws the watch.
func (w *Crowd) leave(b *blocker) {
	w.mu.Lock()
	b.waiting--
	last := b.waiting == 0
	if last && w.blockers[b.node] == b {
		delete(w.blockers, b.node)
	}
	w.mu.Unlock()
	if last && b.watch != nil {
		b.watch.Stop()
	}
}

// set sets the watch of a blocker. The request ends with ctx. The watch does
// not, because others wait for it, too.
func (w *Crowd) set(ctx context.Context, b *blocker, read readFunc) {
	under, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	release := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	defer func() { // the user's code may panic, such as a tracer
		if !b.complete {
			cancel(nil)
		}
		close(b.ready)
	}()
	b.err = read(under, b)
	if !release() { // the watch has ended with under, or is about to
		b.err = reason.OfContext(ctx)
		return
	}
	b.complete = true
}
