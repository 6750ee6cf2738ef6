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
// An event makes its path dirty. When no event is unread, the events of all
// transactions up to the newest answer have arrived. That transaction becomes the
// target of a batch: the loop reads the paths that are dirty at that time. Paths that
// become dirty later belong to the next batch. When the batch is read, the cache takes
// a step:
//
//   - If no event is unread, and no path is dirty because of a change before the
//     newest answer, then the tree of the loop equals the server's tree as of that
//     answer: the event of an earlier change would have arrived before the answer.
//   - Otherwise the loop's tree may equal the server's tree as of the target. A path
//     without an event after the target is equal. A path with such an event is equal
//     if its node was not changed after the target. A path that was read as missing,
//     or was not read, may have had a node at the target, unless the first event after
//     the target is the node's creation. If one path fails this test, there is no
//     step, and the next batch has another target.
//   - The next batch reads the paths that have failed together, and takes its target
//     from that answer; see hotPaths.
type loop struct {
	c       *Cache
	ctx     context.Context
	cancel  context.CancelCauseFunc
	readers sync.WaitGroup
	results chan result
	states  chan state.State
	source  source
	tree    tree

	dirty    map[string]dirt     // paths that a batch must read; settle removes a path that is read
	batch    map[string]needs    // paths that the current batch has not read yet; a read removes its path
	queue    []string            // the paths of batch, oldest first; some twice
	inflight map[string]struct{} // paths of requests; the answer removes a path
	members  map[string]struct{} // all paths of the current batch; clearBatch removes them
	target   int64               // the target of the current batch, or noTarget
	hot      map[string]int      // paths that kept the cache from a step; takeTogether removes cool ones: see restsToCool
	together map[string]struct{} // hot paths whose nodes are as of the target; clearBatch removes them
	begun    time.Time           // when the current batch began

	asking      bool // a multiRead of hot nodes is in flight
	mayRead     int  // how many nodes one request may read; see atATime
	mayTogether int  // how many bytes of hot nodes one multiRead may read; see maxTogether

	syncing bool // there is no watch yet, or the server has not caught up: read nothing
	round   int  // counts the resets
	behind  bool // the connection or the watch was lost, and the server has not caught up since
	warned  bool // the missing watch is in the log

	behindSince time.Time // zero while the cache is up to date

	afterFailure, afterRefusal retry // when to read unreadable nodes again

	rootEvents []framework.WatchEvent // events of the root after the last step; see eventsAreWrong
	rootWas    *Node                  // the root as of the last step since a reset, or nil
}

// source delivers the events: a persistentSource, except in tests.
type source interface {
	// wake delivers a value when there may be events to drain.
	wake() <-chan struct{}

	// drain marks what has changed. It returns an error when the source has ended.
	drain(l *loop) error

	// caughtUp returns the newest transaction whose events have all been drained, and
	// false if events are unread or the watch is not set.
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
		afterFailure: retry{pauses: pauses.Failure()}, afterRefusal: retry{pauses: pauses.Refusal()},
	}
}

// run works until the context ends, the client is closed, or an error occurs that no
// retry can cure, such as a path that is too long.
func (l *loop) run() error {
	states := l.c.client.States(l.ctx) // not in the goroutine: States reports transitions after its call
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

// awaitReconnect stops reading until the next connection, because the server has
// refused the client's credentials. Until then, failed reads say nothing about the
// tree. The reconnect brings a reset.
func (l *loop) awaitReconnect() {
	l.syncing, l.behind = true, true
	l.stateChanged()
}

// stateChanged reads the client's current state, which may be newer than the state
// that was delivered. Each later transition is delivered as well, and a reconnect
// brings a reset.
func (l *loop) stateChanged() {
	if l.c.client.State().IsConnected() {
		return
	}
	l.behind = true
	l.c.interrupted()
}

// unwatched is called while the server does not have the watch: after a reconnect and
// before its reset. The loop may have missed the time without a connection. An
// overloaded server answers with an error, and may take long to set the watch.
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

// reset makes the loop read the whole tree again, as soon as the server has caught
// up. Usually a server has caught up before it accepts the client: it refuses a client
// that has seen a newer transaction, and the creation of a session is itself a
// transaction. A server may be configured for local sessions, though, which no
// transaction creates. The loop sends a Sync, so that such a server does not set the
// cache back.
//
// Dirty paths stay dirty, because the tree may not list them. Paths whose reads are
// in flight are read once more.
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

// catchUp makes the server catch up with its leader.
func (l *loop) catchUp() {
	l.syncing = true
	round := l.round
	l.readers.Go(func() {
		err := l.c.client.Sync(l.ctx, l.c.scope.root)
		l.deliver(result{sync: true, round: round, err: err})
	})
}

// noAnswerPause is the pause after a request that was not answered. Without it, the
// loop would spin on an overloaded server, which refuses at once, if the client's retry
// policy allows no retry.
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

// synced is called when the server has caught up. Events that arrived before this
// answer may come from a server that lagged.
func (l *loop) synced(r result) {
	if err := l.source.drain(l); err != nil {
		return // the next drain returns it again
	}
	switch {
	case r.round != l.round:
		return // a later reset has sent another Sync
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
		case !ok && !caughtUp: // no event is unread, so the watch is missing
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

// ended sets another watch, unless no retry can cure the error.
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

// isBehind reports whether the cache has not caught up with some change or
// interruption.
func (l *loop) isBehind() bool {
	return l.syncing || l.behind || len(l.dirty)+len(l.batch)+len(l.inflight) > 0
}

// noteLag notes since when the cache has been behind.
func (l *loop) noteLag() {
	switch {
	case !l.isBehind():
		l.behindSince = time.Time{}
	case l.behindSince.IsZero():
		l.behindSince = time.Now()
	}
}

// tellProgress updates what Stats returns.
func (l *loop) tellProgress() {
	l.noteLag()
	l.c.progress(len(l.tree.nodes), len(l.dirty)+len(l.batch)+len(l.inflight), l.behindSince)
}

// caughtUpWith notes that the cache has caught up with everything before the batch
// that began at the given time.
func (l *loop) caughtUpWith(batch time.Time) {
	if batch.After(l.behindSince) {
		l.behindSince = batch
	}
}

// tellUpToDate logs that the cache is up to date again, just before callers can see it.
func (l *loop) tellUpToDate() {
	l.c.events.Emit(eventUpToDate, nil, slog.Float64(semconv.CacheLag, time.Since(l.behindSince).Seconds()))
}
