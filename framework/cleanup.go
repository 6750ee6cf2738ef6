package framework

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/random"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// cleanup is the promised deletion of a node, which may not exist and for which no
// caller waits. A connection that is lost with many requests under way can leave
// thousands of clean-ups. A clean-up never uses a caller's context, because the end of
// that context is the usual reason for the clean-up.
type cleanup struct {
	path    string
	version int32
	tries   int // attempts that failed at the server
	begun   begunDelete
	tree    *deletion // for a delete WithChildren, otherwise nil

	// Set if the node's name is not known yet: the node is below parent, if it exists.
	parent, guid string

	// madeIn is the session in which the node may have been created, or nil if that
	// does not matter.
	madeIn *Session
}

func (job *cleanup) request() proto.Request[proto.Nothing] {
	return proto.Delete(job.path, job.version)
}

// mayCome reports whether the node may still be created although a search in this
// session has not found it.
func (job *cleanup) mayCome(s *Session) bool {
	return job.madeIn != nil && job.madeIn != s && time.Now().Before(job.madeIn.lateUntil())
}

// name is the node's name in the log.
func (job *cleanup) name() string {
	if job.guid != "" {
		return znode.Join(job.parent, protectedPrefix(job.guid))
	}
	return job.path
}

// begin sends the request of a delete at once, or makes it wait for room. The caller's
// next request is sent after the delete, so callers do not find a node that they have
// given up.
func (c *Client) begin(job *cleanup) {
	if s, _, _ := c.sessionNow(); s != nil {
		job.begun, _ = beginDelete(s, job.path, job.version) // zero if there is no connection
	}
}

// cleanups are the clean-ups that have not been tried yet. One goroutine tries them,
// and repeats those that have failed. It exists only while it has work. A large tree
// delays the clean-ups after it, except for deletes that begin has sent.
type cleanups struct {
	mu   sync.Mutex // protects the following fields
	jobs []*cleanup
	more chan struct{} // capacity 1: there are jobs; nil while there is no goroutine
}

// add reports whether a goroutine must be started.
func (q *cleanups) add(job *cleanup) (start bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = append(q.jobs, job)
	if start = q.more == nil; start {
		q.more = make(chan struct{}, 1)
	}
	select {
	case q.more <- struct{}{}:
	default:
	}
	return start
}

// take returns the jobs, and a channel that announces more jobs. If there are no jobs
// and last is true, take returns a nil channel: the goroutine must end.
func (q *cleanups) take(last bool) (jobs []*cleanup, more <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	jobs, q.jobs = q.jobs, nil
	if last && len(jobs) == 0 {
		q.more = nil
	}
	return jobs, q.more
}

// cleanUp does a job in the background: until it is done or refused, or the
// client is closed.
func (c *Client) cleanUp(job *cleanup) {
	if c.ctx.Err() == nil && c.cleanups.add(job) {
		c.spawn(c.cleanUpAll)
	}
}

// cleanUpAll tries each new clean-up at once. It repeats failed clean-ups after pauses,
// which do not delay new clean-ups.
func (c *Client) cleanUpAll(ctx context.Context) {
	var failed []*cleanup
	var due <-chan time.Time // nil while there are no failed clean-ups
	pauses := newPauses(shortestCleanupPause, longestCleanupPause)
	for ctx.Err() == nil {
		jobs, more := c.cleanups.take(len(failed) == 0)
		if more == nil {
			return
		}
		failed = append(failed, c.sweep(ctx, jobs)...)
		switch {
		case len(failed) == 0:
			continue
		case due == nil:
			due = time.After(pauses.NextBackOff())
		}
		select {
		case <-more:
		case <-due:
			// A server or a proxy may end the connection on one particular request, and
			// then all later requests fail, too. A random order lets the later requests
			// come first.
			random.Shuffle(failed)
			failed, due = c.sweep(ctx, failed), nil
			if len(failed) == 0 {
				pauses.Reset()
			}
		case <-ctx.Done():
		}
	}
}

const (
	shortestCleanupPause = 100 * time.Millisecond
	longestCleanupPause  = 5 * time.Second
)

// sweep is one attempt at many clean-ups.
type sweep struct {
	client *Client
	ctx    context.Context
	failed []*cleanup // these must be tried again
}

// sweep waits for a connection and tries each clean-up once, sending requests without
// waiting for earlier answers. It returns the clean-ups that must be tried again.
func (c *Client) sweep(ctx context.Context, jobs []*cleanup) (failed []*cleanup) {
	w := &sweep{client: c, ctx: ctx}
	if jobs = w.awaitSent(jobs); len(jobs) == 0 {
		return w.failed
	}
	s, err := c.connected(ctx, nil)
	if err != nil {
		for _, job := range jobs {
			w.finish(job, err)
		}
		return w.failed
	}
	var deletes, searches, trees []*cleanup
	for _, job := range jobs {
		switch {
		case job.tree != nil:
			trees = append(trees, job)
		case job.guid == "":
			deletes = append(deletes, job)
		default:
			searches = append(searches, job)
		}
	}
	steps := []func(){
		func() { w.deleteAll(s, deletes) },
		func() { w.deleteAll(s, w.lookUp(s, searches)) },
		func() { w.deleteTrees(s, trees) },
	}
	random.Shuffle(steps) // each of them may end the connection whenever it is tried
	for _, step := range steps {
		step()
	}
	return w.failed
}

// deleteAll deletes the nodes of clean-ups.
func (w *sweep) deleteAll(s *Session, jobs []*cleanup) {
	pipeline(w.ctx, s, jobs, (*cleanup).request, func(job *cleanup, _ proto.Nothing, err error) error {
		w.finish(job, err)
		return nil
	})
}

// deleteTrees deletes trees, one after the other.
func (w *sweep) deleteTrees(s *Session, jobs []*cleanup) {
	for _, job := range jobs {
		_, err := job.tree.write.try(w.ctx, s)
		w.finish(job, err)
	}
}

// finish takes the result of an attempt at a clean-up.
func (w *sweep) finish(job *cleanup, err error) {
	switch {
	case err == nil, reason.Is(err, zk.ErrNoNode):
		w.client.newest().kept.remove(job.path)
	case isWorthRepeating(err, &job.tries):
		w.failed = append(w.failed, job)
	case w.ctx.Err() != nil: // the client is closed, and gives up all clean-ups
	default:
		err = &OpError{"clean up", job.name(), err}
		w.client.log(slog.LevelWarn, "zookeeper clean-up failed", slog.Any("error", err))
	}
}

// awaitSent waits for the deletes that were already sent or are about to be sent, and
// returns the other clean-ups.
func (w *sweep) awaitSent(jobs []*cleanup) (others []*cleanup) {
	for _, job := range jobs {
		begun := job.begun
		job.begun = begunDelete{}
		var err error
		if !begun.isNone() {
			err = begun.await(w.ctx)
		}
		if begun.isNone() { // there was no connection, or the connection has ended
			others = append(others, job)
			continue
		}
		w.finish(job, err)
	}
	return others
}

// lookUp searches for the nodes of clean-ups, and returns their deletes.
func (w *sweep) lookUp(s *Session, jobs []*cleanup) (deletes []*cleanup) {
	found := foundNodes{}
	for _, job := range jobs {
		names, err := found.of(w.ctx, s, job.parent, job.guid)
		switch {
		case err == nil && len(names) == 0 && job.mayCome(s):
			w.failed = append(w.failed, job)
		case len(names) == 0:
			w.finish(job, err)
		}
		for _, name := range names {
			deletes = append(deletes, &cleanup{path: znode.Join(job.parent, name), version: job.version, tries: job.tries})
		}
	}
	return deletes
}

// isWorthRepeating reports whether to try a clean-up again after an error. It counts
// failures of the server.
func isWorthRepeating(err error, tries *int) bool {
	switch {
	case neverSent(err), IsConnectionError(err):
		return true
	case IsRefusal(err):
		return false
	}
	*tries++
	return *tries < maxCleanupTries
}

// maxCleanupTries bounds how often a server may fail or send a malformed answer to a
// clean-up. Attempts without a connection do not count.
const maxCleanupTries = 20

// DeleteInBackground is a Delete of AnyVersion WithGuarantee that does not wait. If
// there is a connection, the delete is sent before the caller's next request. An
// invalid path is ignored, because it has no node.
func (e Extension) DeleteInBackground(path string) {
	if validatePath(path) == nil {
		e.deleteInBackground(e.full(path))
	}
}

// deleteInBackground deletes a node, however long the client waits for a connection.
func (c *Client) deleteInBackground(path string) {
	job := &cleanup{path: path, version: AnyVersion}
	c.begin(job)
	c.cleanUp(job)
}
