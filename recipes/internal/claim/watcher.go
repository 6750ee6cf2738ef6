package claim

import (
	"context"
	"sync"
	"sync/atomic"
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
//
// A goroutine runs only while a node is read: a client may hold thousands of
// locks.
type watcher struct {
	client  *framework.Client
	nodes   []framework.Created
	one     [1]framework.Created // where nodes are, if there is one
	trusted context.Context      // see lifetime
	forget  func() bool          // keeps the session from calling trustEnded
	own     *lockloop.OwnWatch   // the first watch; may be nil
	once    sync.Once
	isOver  atomic.Bool // over is set

	mu        sync.Mutex // protects the following fields
	owner     *Claim
	delay     *time.Timer // its function starts to watch; nil when it has begun
	revoked   bool
	requested chan struct{}   // see requests; nil until somebody asks for it
	kept      bool            // the nodes stay, and another watcher watches them
	unheed    func() bool     // see heedOwn; nil before and after that
	set       []heard         // one of each node
	over      error           // why the nodes are given up, or not trusted; nil until then
	ctx       context.Context // see lifetime; nil until somebody needs it
	stop      context.CancelCauseFunc
}

// heard is a watch, with the function that has nothing called any more when it
// fires. Others of the client may have the same watch at the server, so that it
// goes on, and would keep what it calls, and with that the claim.
type heard struct {
	watch  *framework.Watch // may be nil
	forget func() bool
}

func (h heard) stop() {
	if h.watch != nil {
		h.forget()
		h.watch.Stop()
	}
}

// watchAfter is how long a lock is held before its holder watches its own
// nodes. So a short critical section does not pay for a watch.
const watchAfter = time.Second

// watchNodes makes the watcher of a claim, and gives the claim its nodes.
func (c *Claim) watchNodes(trusted context.Context, nodes []framework.Created) {
	w := &watcher{client: c.terms.Client, trusted: trusted, own: c.terms.Own, owner: c}
	w.nodes = append(w.one[:0], nodes...)
	c.watcher, c.nodes = w, w.nodes
	w.forget = w.nodes[0].Session.AfterTrust(framework.Extend(w.client).ErrorPolicy(), w.trustEnded)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.delay = time.AfterFunc(watchAfter, w.start)
}

// trustEnded tells the claim that its context has ended. A claim that is just
// being made the owner is not: it finds that out by itself.
func (w *watcher) trustEnded() {
	w.mu.Lock()
	owner := w.owner
	w.mu.Unlock()
	owner.contextEnded()
}

// lifetime returns a context that ends when the nodes are given up, or cannot be
// trusted any more. The context of every claim to them ends with it. Most locks
// are given up before anything needs it.
func (w *watcher) lifetime() context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx == nil {
		w.ctx, w.stop = context.WithCancelCause(w.trusted)
		if w.over != nil {
			w.stop(w.over)
		}
	}
	return w.ctx
}

// hasEnded reports whether the nodes are given up, or cannot be trusted any more.
func (w *watcher) hasEnded() bool { return w.isOver.Load() || w.trusted.Err() != nil }

func (w *watcher) endLocked(cause error) {
	if w.over == nil {
		w.over = cause
		w.isOver.Store(true)
	}
	if w.stop != nil {
		w.stop(cause)
	}
}

// heedOwn begins to watch as soon as the contender's watch fires. It may be about
// to. That costs no request.
func (w *watcher) heedOwn() {
	w.owner.terms.Own = nil // nor need it be kept
	if w.own == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unheed = w.own.Watch.AfterFunc(func() {
		if !w.hasEnded() { // otherwise the node was given up, and deleted
			w.start()
		}
	})
}

// unheedLocked is for whoever begins to watch, or never will.
func (w *watcher) unheedLocked() {
	if w.unheed != nil {
		w.unheed()
		w.unheed = nil
	}
}

// start begins to watch now, if it has not begun yet.
func (w *watcher) start() {
	w.once.Do(func() {
		w.mu.Lock()
		w.stopDelayLocked()
		w.unheedLocked()
		w.set = make([]heard, len(w.nodes))
		w.mu.Unlock()
		for i := range w.nodes {
			w.look(i, w.own)
		}
	})
}

// look reads a node, and does so again after each change. If the user's code ends the
// goroutine, such as a retry policy, the node is read again a moment later.
func (w *watcher) look(i int, own *lockloop.OwnWatch) {
	framework.Extend(w.client).Go(func(ctx context.Context) {
		returned := false
		defer func() {
			if !returned {
				time.AfterFunc(watchAfter, func() { w.lookAgain(i) })
			}
		}()
		w.watch(ctx, i, own)
		returned = true
	})
}

func (w *watcher) lookAgain(i int) {
	if w.mayWatch() {
		w.look(i, nil)
	}
}

// end stops watching nodes that are deleted next. It leaves their watches
// alone: the deletion makes them fire at the server, which saves a request.
func (w *watcher) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopDelayLocked()
	w.endLocked(ErrReleased)
}

func (w *watcher) stopDelayLocked() {
	if w.delay != nil {
		w.delay.Stop()
		w.delay = nil
	}
}

// endKept is end for nodes that stay. It removes their watches. That is also the
// contender's, if nobody has begun to watch.
func (w *watcher) endKept() {
	w.end()
	w.mu.Lock()
	w.unheedLocked()
	set := w.set
	w.kept, w.set = true, nil
	w.mu.Unlock()
	for _, h := range set {
		h.stop()
	}
	if w.own != nil {
		w.own.Watch.Stop()
	}
}

// serve makes the watcher tell next from now on. It reports false if somebody
// has asked for the lock, or its nodes are not trusted any more.
func (w *watcher) serve(next *Claim) bool {
	inTime := w.nodes[0].Session.IsInTime()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.revoked || w.hasEnded() || !inTime {
		return false
	}
	w.owner = next
	return true
}

// watch reads a node until there is a watch on it. ctx ends with the client. When
// the session ends, its watches may say so before w.trusted has ended. A holder
// that may not read its own node keeps its lock, and goes on trying. So does one
// whose credentials are refused: the session may outlast that.
func (w *watcher) watch(ctx context.Context, i int, own *lockloop.OwnWatch) {
	ctx, _ = trace.Unblocked(ctx, w.client)
	recovery := follow.Recovery{Client: w.client, Outlasts: isOutlastedByHolder}
	for w.mayWatch() {
		data, watch, err := w.read(ctx, w.nodes[i].Path, own)
		own = nil
		switch {
		case err == nil:
			if IsRevocation(data) {
				w.revoke()
			}
			w.lookAfter(watch, i)
			return
		case reason.Is(err, zk.ErrNoNode):
			w.deleted()
		case recovery.Wait(w.lifetime(), err) != nil:
			return
		}
	}
}

func (w *watcher) mayWatch() bool {
	return !w.hasEnded() && w.nodes[0].Session.Context().Err() == nil
}

// lookAfter has a node read again when its watch fires. That it does for any
// change; the next read tells which. The event of a deletion is not enough to end a
// claim: the end of the session deletes the node, too, and a server may send that event
// before it hangs up. The read tells that the session is lost.
func (w *watcher) lookAfter(watch *framework.Watch, i int) {
	w.mu.Lock()
	kept := w.kept
	if !kept {
		w.set[i] = heard{watch, watch.AfterFunc(func() {
			watch.Stop()
			w.lookAgain(i)
		})}
	}
	w.mu.Unlock()
	if kept {
		watch.Stop()
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

// requests is closed when somebody has asked for the lock.
func (w *watcher) requests() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.requested == nil {
		w.requested = make(chan struct{})
		if w.revoked {
			close(w.requested)
		}
	}
	return w.requested
}

func (w *watcher) revoke() {
	w.mu.Lock()
	owner := w.owner
	owner.noteRequest() // w.mu is held: a successor hears of it or is refused
	if !w.revoked && w.requested != nil {
		close(w.requested)
	}
	w.revoked = true
	w.mu.Unlock()
	owner.Request()
}

// deleted ends the claim whose node is gone. If the nodes were given up before,
// their own holder may have deleted them.
func (w *watcher) deleted() {
	w.mu.Lock()
	owner := w.owner
	if w.over == nil {
		owner.spare(ErrNodeDeleted)
		owner.end(ErrNodeDeleted)
		w.endLocked(ErrNodeDeleted) // a claim that is just being made the owner hears of it, too
	}
	w.mu.Unlock()
	owner.contextEnded()
}
