package cache

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// standardSource learns of changes from standard watches: one for the data and
// one for the children of each node. The client sets them again after a
// reconnect, and they tell of what has happened meanwhile.
type standardSource struct {
	client *framework.Client
	woken  chan struct{} // capacity 1

	// Only the loop uses these fields.
	byPath  map[string]*pathWatches
	waiters *sync.WaitGroup
	ctx     context.Context

	mu    sync.Mutex // protects the following field
	fired []*pathWatches
}

// pathWatches are the watches of one path. A watch that is nil is not set.
type pathWatches struct {
	path       string
	data, list *framework.Watch
	stopped    chan struct{} // closed when the watches are replaced
}

func newStandardSource(l *loop) *standardSource {
	return &standardSource{
		client: l.c.client, woken: make(chan struct{}, 1),
		byPath: map[string]*pathWatches{}, waiters: &l.readers, ctx: l.ctx,
	}
}

func (s *standardSource) wake() <-chan struct{} { return s.woken }

// errComesAndGoes is why the root is read again: it was there for one request, and
// not for another.
var errComesAndGoes = errors.New("the node comes and goes")

// read reads a node, and pauses if the root comes and goes time and again.
func (s *standardSource) read(ctx context.Context, l *loop, q request) result {
	vanished := pauses.Vanished()
	for {
		r := s.readOnce(ctx, l, q)
		if !reason.Is(r.err, errComesAndGoes) || follow.Pause(ctx, s.client, &vanished) != nil {
			return r
		}
	}
}

func (s *standardSource) readOnce(ctx context.Context, l *loop, q request) (r result) {
	r.request = q
	r.node, r.data, r.err = s.readNode(ctx, l, q.path)
	if r.err != nil || r.node == nil || !l.c.scope.hasChildren(q.path) {
		return r
	}
	names, stat, list, err := s.client.ChildrenW(ctx, q.path)
	if r.err = noNodeIsNil(err); err != nil {
		r.stop()
		r.node, r.data = nil, nil
		if r.err == nil && q.path == l.c.scope.root {
			r.err = errComesAndGoes // it is gone, and has no parent that tells of its return
		}
		return r
	}
	r.list, r.listed, r.names, r.pzxid = list, true, names, stat.Pzxid
	return r
}

// readNode reads a node with a watch. There is a watch for the creation of the
// root, too. The watches of the parents tell of the creation of other nodes.
func (s *standardSource) readNode(ctx context.Context, l *loop, path string) (*Node, *framework.Watch, error) {
	if !l.c.cfg.noData {
		data, stat, w, err := s.client.GetW(ctx, path)
		if err == nil {
			return &Node{Path: path, Data: bytes.Clone(data), Stat: *stat}, w, nil
		}
		if noNodeIsNil(err) != nil || path != l.c.scope.root {
			return nil, nil, noNodeIsNil(err)
		}
	}
	there, stat, w, err := s.client.ExistsW(ctx, path)
	switch {
	case err != nil:
		return nil, nil, err
	case !there && path == l.c.scope.root:
		return nil, w, nil
	case !there:
		w.Stop()
		return nil, nil, nil
	case !l.c.cfg.noData: // it was made meanwhile
		w.Stop()
		return nil, nil, errComesAndGoes
	default:
		return &Node{Path: path, Stat: *stat}, w, nil
	}
}

// arrived keeps the watches of a result in place of earlier ones of its path.
func (s *standardSource) arrived(_ *loop, r result) {
	s.drop(r.path)
	if r.data == nil && r.list == nil {
		return
	}
	p := &pathWatches{r.path, r.data, r.list, make(chan struct{})}
	s.byPath[r.path] = p
	s.waiters.Go(func() { s.await(p) })
}

// await waits until one of the watches has fired.
func (s *standardSource) await(p *pathWatches) {
	select {
	case <-done(p.data):
	case <-done(p.list):
	case <-p.stopped:
		return
	case <-s.ctx.Done():
		return
	}
	s.mu.Lock()
	s.fired = append(s.fired, p)
	s.mu.Unlock()
	s.wakeUp()
}

func (s *standardSource) wakeUp() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

func done(w *framework.Watch) <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.Done()
}

func (s *standardSource) drain(l *loop) error {
	s.mu.Lock()
	fired := s.fired
	s.fired = nil
	s.mu.Unlock()
	for _, p := range fired {
		if s.byPath[p.path] != p {
			continue
		}
		if areLost(p) {
			l.reset()
			continue
		}
		s.drop(p.path)
		l.changed(p.path, needNode|needScan, never, zk.EventNodeDataChanged)
	}
	return nil
}

// areLost reports whether the watches of a path were lost, and with them all others:
// with the session, or because they were not set again after a reconnect.
func areLost(p *pathWatches) bool {
	for _, w := range []*framework.Watch{p.data, p.list} {
		if !hasFired(w) {
			continue
		}
		ev, err := w.Event()
		if err == nil && ev.Type == zk.EventNotWatching || err != nil && !reason.Is(err, framework.ErrWatchStopped) {
			return true
		}
	}
	return false
}

func hasFired(w *framework.Watch) bool {
	if w == nil {
		return false
	}
	select {
	case <-w.Done():
		return true
	default:
		return false
	}
}

// caughtUp asks for the newest transaction before it looks at the watches: each
// that has fired up to then is seen.
func (s *standardSource) caughtUp() (zxid int64, ok bool) {
	zxid = s.client.LastZxid()
	for _, p := range s.byPath {
		if hasFired(p.data) || hasFired(p.list) {
			return 0, false
		}
	}
	return zxid, true
}

// reconnected has the loop wait until the server has caught up. The watches
// have told by then of all that has happened.
func (s *standardSource) reconnected(l *loop) {
	if l.behind {
		l.round++
		l.catchUp()
	}
}

func (s *standardSource) drop(path string) {
	p := s.byPath[path]
	if p == nil {
		return
	}
	delete(s.byPath, path)
	close(p.stopped)
	result{data: p.data, list: p.list}.stop()
}

func (s *standardSource) reset() {
	for path := range s.byPath {
		s.drop(path)
	}
}

func (s *standardSource) close() { s.reset() }
