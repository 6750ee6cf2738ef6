package claim

import (
	"context"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/lockloop"
	"github.com/gocurator/curator/recipes/internal/trace"
)

// watcher watches the nodes of a claim. It tells the claim when somebody else
// deletes one of them, or asks for the lock. The nodes, and the watcher with
// them, may pass from one claim to its successor.
type watcher struct {
	client *framework.Client
	nodes  []framework.Created
	own    *lockloop.OwnWatch // the first watch; may be nil
	delay  *time.Timer        // its function starts to watch
	once   sync.Once

	// ctx ends when the nodes are given up, or cannot be trusted any more. The
	// context of every claim to them ends with it.
	ctx  context.Context
	stop context.CancelCauseFunc

	// These are made when watching begins.
	kept      chan struct{} // closed when the nodes stay, and another watcher watches them
	requested chan struct{} // closed when somebody has asked for the lock

	mu      sync.Mutex // protects the following fields
	owner   *Claim
	revoked bool
}

// watchAfter is how long a lock is held before its holder watches its own
// nodes. So a short critical section does not pay for a watch.
const watchAfter = time.Second

func newWatcher(trusted context.Context, c *Claim) *watcher {
	w := &watcher{client: c.terms.Client, nodes: c.nodes, own: c.terms.Own, owner: c}
	w.ctx, w.stop = context.WithCancelCause(trusted)
	w.delay = time.AfterFunc(watchAfter, w.start)
	return w
}

// heedOwn begins to watch as soon as the contender's watch fires. It may be about
// to. That costs no request.
func (w *watcher) heedOwn() {
	w.owner.terms.Own = nil // nor need it be kept
	if w.own == nil {
		return
	}
	w.own.Watch.AfterFunc(func() {
		if w.ctx.Err() == nil { // otherwise the node was given up, and deleted
			w.start()
		}
	})
}

// start begins to watch now, if it has not begun yet.
func (w *watcher) start() {
	w.once.Do(func() {
		w.kept, w.requested = make(chan struct{}), make(chan struct{})
		for _, n := range w.nodes {
			framework.Extend(w.client).Go(func(ctx context.Context) { w.watch(ctx, n.Path) })
		}
	})
}

// end stops watching nodes that are deleted next. It leaves their watches
// alone: the deletion makes them fire at the server, which saves a request.
func (w *watcher) end() {
	w.delay.Stop()
	w.stop(ErrReleased)
}

// endKept is end for nodes that stay. It removes their watches. It is for
// watchers that were started, as a leader's are from the beginning.
func (w *watcher) endKept() {
	w.end()
	close(w.kept)
}

// serve makes the watcher tell next from now on. It reports false if somebody
// has asked for the lock, or its nodes are not trusted any more.
func (w *watcher) serve(next *Claim) bool {
	inTime := w.nodes[0].Session.IsInTime() // asks the user's clock, and so not under w.mu
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.revoked || w.ctx.Err() != nil || !inTime {
		return false
	}
	w.owner = next
	return true
}

// watch watches one node. ctx ends with the client. When the session ends, its
// watches may say so before w.ctx has ended. A holder that may not read its own
// node keeps its lock, and goes on trying. So does one whose credentials are
// refused: the session may outlast that.
func (w *watcher) watch(ctx context.Context, path string) {
	session := w.nodes[0].Session.Context()
	ctx, _ = trace.Unblocked(ctx, w.client)
	own := w.own
	recovery := follow.Recovery{Client: w.client, Outlasts: isOutlastedByHolder}
	for w.ctx.Err() == nil && session.Err() == nil {
		data, watch, err := w.read(ctx, path, own)
		own = nil
		switch {
		case err == nil:
			recovery.Recovered()
			if IsRevocation(data) {
				w.revoke()
			}
			select {
			case <-watch.Done(): // fires for any change; the next read tells which
			case <-w.kept:
			case <-ctx.Done():
			}
			watch.Stop()
		case reason.Is(err, zk.ErrNoNode):
			w.deleted()
		case recovery.Wait(w.ctx, err) != nil:
			return
		}
	}
}

// read reads a node and watches it, unless a contender has done so.
func (w *watcher) read(ctx context.Context, path string, own *lockloop.OwnWatch) ([]byte, *framework.Watch, error) {
	if own != nil {
		return own.Data, own.Watch, nil
	}
	data, _, watch, err := w.client.GetW(ctx, path)
	return data, watch, err
}

func isOutlastedByHolder(err error) bool {
	return framework.IsRefusal(err) || follow.RefusedCredentials(err)
}

func (w *watcher) revoke() {
	w.mu.Lock()
	owner := w.owner
	owner.noteRequest() // w.mu is held: a successor hears of it or is refused
	if !w.revoked {
		w.revoked = true
		close(w.requested)
	}
	w.mu.Unlock()
	owner.Request()
}

func (w *watcher) deleted() {
	w.mu.Lock()
	owner := w.owner
	owner.end(ErrNodeDeleted)
	w.stop(ErrNodeDeleted) // a claim that is just being made the owner hears of it, too
	w.mu.Unlock()
	owner.contextEnded()
}
