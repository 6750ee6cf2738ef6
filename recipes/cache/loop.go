package cache

import (
	"context"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/state"
)

// loop is the one goroutine that decides what to read and when the cache takes
// a step.
//
// An event makes a path dirty. When no event is unread, everything up to the
// newest answer was told. That transaction is the target of a batch: the paths
// that were dirty as of then are read, and the others are left to the next
// batch. When the batch is read, the cache takes a step:
//
//   - If no event is unread, and nothing is dirty because of a change before the
//     newest answer, then everything that was read is equal to the server's tree
//     as of that answer: a change before it would have been told before it.
//   - Otherwise it may be equal to the tree as of the target. A path that was not
//     told of after the target is. One that was told of is if its node is not
//     younger than the target. A path that was read as missing, or not at all,
//     may have had a node at the target, unless what was told of it after the
//     target begins with its creation. If one path fails, there is no step, and
//     the next batch has another target.
//   - The paths that have failed are read together in the next batch, which has
//     its target from that; see hotPaths.
type loop struct {
	c       *Cache
	ctx     context.Context
	cancel  context.CancelCauseFunc
	readers sync.WaitGroup
	results chan result
	states  chan state.State
	source  source
	tree    tree

	dirty    map[string]dirt     // what a batch has to read; settle removes what it has read
	batch    map[string]needs    // what is still to be read of this one; a read removes its path
	queue    []string            // the paths of batch, oldest first; some twice
	inflight map[string]struct{} // the answer removes a path
	members  map[string]struct{} // the paths of this batch; clearBatch removes them
	target   int64               // this batch's, or noTarget
	hot      map[string]int      // paths that were in the way of a step; takeTogether removes one that has cooled: see restsToCool
	together map[string]struct{} // hot paths whose copies are as of the target; clearBatch removes them
	begun    time.Time           // the time at which this batch began

	asking      bool // a multiRead is under way
	mayRead     int  // how many nodes an answer may have; see atATime
	mayTogether int  // how many bytes of hot nodes are read together; see maxTogether

	syncing bool // nothing is read before there is a watch, and the server has caught up
	round   int  // counts the times that the server had to catch up
	behind  bool // the connection or the watch was gone, and the server has not caught up since
	warned  bool // the log has a line of a watch that is not there

	behindSince time.Time // zero if there is nothing that the cache has not caught up with

	troubled, forbidden again // when nodes are read again that could not be read

	rootEvents []framework.WatchEvent // those that the cache does not have yet; see eventsAreWrong
	rootWas    *Node                  // the root as of the last step since a reset, or nil
}

// source is where the loop learns of changes: a persistentSource, except in tests.
type source interface {
	// wake delivers a value when there may be something to drain.
	wake() <-chan struct{}

	// drain marks what has changed, and returns an error when the source has
	// ended.
	drain(l *loop) error

	// caughtUp returns the transaction as of which everything that was read is
	// up to date, and false if something is not.
	caughtUp() (zxid int64, ok bool)

	close()
}

func newLoop(ctx context.Context, c *Cache) *loop {
	ctx, cancel := context.WithCancelCause(ctx)
	return &loop{
		c: c, ctx: ctx, cancel: cancel,
		results: make(chan result), states: make(chan state.State),
		tree: newTree(c), dirty: map[string]dirt{}, batch: map[string]needs{},
		inflight: map[string]struct{}{}, members: map[string]struct{}{},
		hot: map[string]int{}, together: map[string]struct{}{}, mayRead: mostAtATime, mayTogether: maxTogether,
		troubled: again{pauses: pauses.Trouble()}, forbidden: again{pauses: pauses.Refusal()},
	}
}

// run works until the context ends, the client is closed, or nothing can be done:
// the path is too long.
func (l *loop) run() error {
	states := l.c.client.States(l.ctx) // not on the goroutine: it tells what follows the call
	l.readers.Go(func() { l.followStates(states) })
	l.syncing = true
	l.tellProgress() // it may take long until there is a watch
	if err := l.open(); err != nil {
		return err
	}
	l.reset()
	for {
		if err := l.source.drain(l); err != nil {
			return err
		}
		l.step()
		l.launch()
		l.tellProgress()
		select {
		case <-l.ctx.Done():
			return context.Cause(l.ctx)
		case <-l.source.wake():
		case r := <-l.results:
			l.arrived(r)
		case <-l.states:
			l.stateChanged()
		case <-l.c.poke:
		}
	}
}

// finish ends the goroutines of the loop, and waits for them.
func (l *loop) finish(reason error) {
	l.cancel(reason)
	l.readers.Wait()
	if l.source != nil {
		l.source.close()
	}
}

// open sets the watch, and retries after errors that may pass.
func (l *loop) open() error {
	return l.c.recovery.Until(l.ctx, func(ctx context.Context) error {
		var opts []framework.WatcherOption
		if l.c.scope.depth > 0 {
			opts = append(opts, framework.WithRecursion())
		}
		w, err := l.c.client.NewWatcher(ctx, l.c.scope.root, opts...)
		if err == nil {
			l.source = &persistentSource{w}
		}
		return err
	})
}

// followStates tells the loop of interruptions.
func (l *loop) followStates(states iter.Seq[state.State]) {
	for s := range states {
		select {
		case l.states <- s:
		case <-l.ctx.Done():
		}
	}
}

// awaitReconnect has nothing read before the next connection, because servers
// have refused the client's credentials. A failure until then says nothing about
// the tree. The reconnect is a reset.
func (l *loop) awaitReconnect() {
	l.syncing, l.behind = true, true
	l.stateChanged()
}

// stateChanged looks at the state itself, which may be newer than the one that
// was told. There is always another one to be told if it changes again, and
// after a reconnect a reset to be drained.
func (l *loop) stateChanged() {
	if l.c.client.State().IsConnected() {
		return
	}
	l.behind = true
	l.c.interrupted()
}

// unwatched is called while the server does not have the watch, between a reconnect
// and the reset behind it. The loop may have been told too late to see that there was
// no connection. A server that has too much to do says so, and may take long.
func (l *loop) unwatched(trouble error) {
	l.behind = true
	l.c.interrupted()
	if trouble != nil {
		l.c.recovery.Note(trouble)
	}
	if _, answered := framework.ServerCode(trouble); answered && !l.warned {
		l.warned = true
		l.c.events.Emit(eventUnwatched, trouble)
	}
}

// reset makes the loop look at everything again, after the server has caught
// up. Servers see to that themselves: in a session by the zxid that the client
// tells them, and before one by the transaction that creates it. But servers can
// be configured for local sessions. No transaction creates these, and a server
// that lags behind must not set the cache back.
//
// Nodes that were dirty before stay so, because nothing else may know of them.
// Nodes whose reads are under way now are read once more.
func (l *loop) reset() {
	l.round++
	l.warned = false
	l.rootEvents, l.rootWas = nil, nil // the ensemble may have been set back
	for path := range l.inflight {
		l.mark(path, needNode|needScan)
	}
	for path, n := range l.batch {
		l.mark(path, n)
	}
	l.queue, l.target = nil, noTarget
	clear(l.batch)
	clear(l.members)
	clear(l.together)
	clear(l.hot)
	l.c.interrupted()
	l.catchUp()
}

// catchUp has the server catch up with its leader.
func (l *loop) catchUp() {
	l.syncing = true
	round := l.round
	l.readers.Go(func() {
		err := l.c.client.Sync(l.ctx, l.c.scope.root)
		l.deliver(result{sync: true, round: round, err: err})
	})
}

// noAnswerPause is between a request that was not answered and the next one. There
// may be none otherwise: a server that has too much to do says so at once, and the
// client's retry policy may allow no other try.
const noAnswerPause = 100 * time.Millisecond

func (l *loop) deliver(r result) {
	if isNoAnswer(r.err) {
		_ = pauses.Sleep(l.ctx, noAnswerPause)
	}
	select {
	case l.results <- r:
	case <-l.ctx.Done():
	}
}

// synced is called when the server has caught up.
//
// Events that came before the answer may be of a server that lagged behind.
func (l *loop) synced(r result) {
	if err := l.source.drain(l); err != nil {
		return // the next drain returns it again
	}
	switch {
	case r.round != l.round:
		return // there was another reset; its own follows
	case isNoAnswer(r.err):
		l.catchUp()
		return
	case reason.Is(r.err, zk.ErrAuthFailed):
		l.awaitReconnect()
		return
	case r.err != nil && l.ctx.Err() == nil:
		l.c.events.Emit(eventNotSynced, r.err)
	}
	l.syncing, l.behind = false, false
	l.mark(l.c.scope.root, needNode|needScan)
	for path := range l.tree.nodes {
		l.mark(path, needNode|needScan)
	}
	for path := range l.tree.unreadable {
		l.mark(path, needNode|needScan)
	}
}

// persistentSource learns of changes from one persistent watch.
type persistentSource struct{ w *framework.Watcher }

func (s *persistentSource) wake() <-chan struct{} { return s.w.Changed() }

func (s *persistentSource) drain(l *loop) error {
	for {
		_, caughtUp := s.w.CaughtUp()
		ev, ok, err := s.w.Poll()
		switch {
		case err != nil:
			return s.ended(l, err)
		case !ok && !caughtUp: // not because of what there is to read
			l.unwatched(s.w.LastError())
			return nil
		case !ok:
			return nil
		case ev.Reset:
			l.reset()
		case ev.Type == zk.EventNodeCreated:
			l.changed(ev, needNode|needScan)
		case ev.Type != zk.EventNodeChildrenChanged:
			l.changed(ev, needNode)
		}
	}
}

// ended sets another watch, unless waiting does not cure the error.
func (s *persistentSource) ended(l *loop, err error) error {
	s.w.Close()
	l.syncing = true
	l.tellProgress()
	l.c.interrupted()
	if err := l.c.recovery.Wait(l.ctx, err); err != nil {
		return err
	}
	if err := l.open(); err != nil {
		return err
	}
	l.reset()
	return nil
}

func (s *persistentSource) caughtUp() (zxid int64, ok bool) { return s.w.CaughtUp() }

func (s *persistentSource) close() { s.w.Close() }

// isBehind reports whether there is something that the cache has not caught up
// with.
func (l *loop) isBehind() bool {
	return l.syncing || l.behind || len(l.dirty)+len(l.batch)+len(l.inflight) > 0
}

// noteLag notes since when the cache is behind.
func (l *loop) noteLag() {
	switch {
	case !l.isBehind():
		l.behindSince = time.Time{}
	case l.behindSince.IsZero():
		l.behindSince = time.Now()
	}
}

// tellProgress has Stats tell how far the cache is.
func (l *loop) tellProgress() {
	l.noteLag()
	l.c.progress(len(l.tree.nodes), len(l.dirty)+len(l.batch)+len(l.inflight), l.behindSince)
}

// caughtUpWith notes that the cache has caught up with the batch that began at
// a time. The rest came later.
func (l *loop) caughtUpWith(batch time.Time) {
	if batch.After(l.behindSince) {
		l.behindSince = batch
	}
}

// tellUpToDate logs that the cache is up to date again, just before its callers can see
// that.
func (l *loop) tellUpToDate() {
	l.c.events.Emit(eventUpToDate, nil, slog.Float64(semconv.CacheLag, time.Since(l.behindSince).Seconds()))
}
