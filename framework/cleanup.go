package framework

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/retry"
)

// cleanup is one thing that a client has promised to do although nobody waits
// for it: to delete a node, or to find out whether there is one. A connection
// that is lost with much under way can leave thousands of them.
type cleanup struct {
	path    string // of the node
	version int32
	tries   int // at which the server has failed

	// Set if a delete was sent already, or waits for room on the connection.
	sent   *transport.Call
	place  *transport.Waiter
	sentIn *Session

	// Set if the node's name is not known yet: it is below parent, if it exists.
	parent, guid string

	// Set if the node stays, and a reservation waits for the answer whether
	// this session has made it.
	reserved *reservation
	madeIn   *Session
}

// cleanups are the clean-ups that a client still has to do. One goroutine tries
// the new ones. Another one repeats those that have failed, so that its pauses
// do not hold up the new ones. Neither goroutine exists without work.
type cleanups struct {
	fresh, failed backlog
}

// backlog is the work of one goroutine.
type backlog struct {
	mu   sync.Mutex // protects the following fields
	jobs []*cleanup
	busy bool // the goroutine is there
}

// add reports whether a goroutine must be started.
func (b *backlog) add(jobs ...*cleanup) (start bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.jobs = append(b.jobs, jobs...)
	start = !b.busy
	b.busy = true
	return start
}

// take returns all there is to do.
func (b *backlog) take() []*cleanup {
	b.mu.Lock()
	defer b.mu.Unlock()
	jobs := b.jobs
	b.jobs = nil
	return jobs
}

// finished reports whether the goroutine may end, because there is nothing more to do.
func (b *backlog) finished() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.busy = len(b.jobs) > 0
	return !b.busy
}

// cleanUp does a job in the background: until it is done or refused, or the
// client is closed. It never uses a caller's context, because the end of that
// context is the usual reason for a clean-up.
func (c *Client) cleanUp(job *cleanup) {
	if c.ctx.Err() == nil && c.cleanups.fresh.add(job) {
		c.Go(c.cleanUpFresh)
	}
}

// cleanUpFresh tries each clean-up once.
func (c *Client) cleanUpFresh(ctx context.Context) {
	for fresh := &c.cleanups.fresh; !fresh.finished(); {
		failed, _ := c.sweep(ctx, fresh.take())
		if ctx.Err() != nil {
			return
		}
		if len(failed) > 0 && c.cleanups.failed.add(failed...) {
			c.Go(c.cleanUpFailed)
		}
	}
}

// cleanUpFailed repeats the clean-ups that have failed, until none is left.
func (c *Client) cleanUpFailed(ctx context.Context) {
	for failed := &c.cleanups.failed; !failed.finished() && ctx.Err() == nil; {
		var jobs []*cleanup
		last := errUnfinished // the first attempt was made before: begin with a pause
		always := func(error) bool { return true }
		retry.Do(ctx, cleanupPolicy, always, func(ctx context.Context) (err error) {
			if last != nil {
				err, last = last, nil
				return err
			}
			jobs, err = c.sweep(ctx, inAnyOrder(append(jobs, failed.take()...)))
			return err
		})
	}
}

// inAnyOrder shuffles clean-ups. A server or a proxy may end the connection
// whenever it sees one of the requests, and those behind it fail then, too. In
// another order, they are ahead of it.
func inAnyOrder(jobs []*cleanup) []*cleanup {
	rand.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
	return jobs
}

var errUnfinished = errors.New("clean-up is not finished")

// cleanupPolicy never gives up.
var cleanupPolicy = retry.BoundedExponential(100*time.Millisecond, 5*time.Second, math.MaxInt)

// maxCleanupTries bounds how often a server may fail at a clean-up, or answer
// with garbage. Attempts without a connection do not count.
const maxCleanupTries = 20

// mayGoOn reports whether to try again after an error. It counts those errors
// that a server has made.
func mayGoOn(err error, tries *int) bool {
	switch {
	case neverSent(err), IsConnectionError(err):
		return true
	case IsRefusal(err):
		return false
	}
	*tries++
	return *tries < maxCleanupTries
}

func (c *Client) cleanupFailed(path string, err error) {
	c.cfg.logger.Warn("zookeeper clean-up failed", "error", &OpError{"clean up", path, err})
}

// inBackground runs a clean-up of many requests. It has a goroutine of its own,
// because the others should not wait for it.
func (c *Client) inBackground(path string, job func(context.Context, *Session) error) {
	c.Go(func(ctx context.Context) {
		tries := 0
		persistent := func(err error) bool { return mayGoOn(err, &tries) }
		err := retry.Do(ctx, cleanupPolicy, persistent, func(ctx context.Context) error {
			s, err := c.connected(ctx, nil)
			if err != nil {
				return err
			}
			return job(ctx, s)
		})
		if err != nil && ctx.Err() == nil {
			c.cleanupFailed(path, err)
		}
	})
}

// sweep is one attempt at many clean-ups.
type sweep struct {
	client *Client
	ctx    context.Context
	failed []*cleanup // to be tried again
	err    error      // why, for one of them
}

// sweep tries each clean-up once, and sends their requests ahead of the answers.
// It returns those that must be tried again, with the error of one of them. It
// waits for a connection.
func (c *Client) sweep(ctx context.Context, jobs []*cleanup) ([]*cleanup, error) {
	w := &sweep{client: c, ctx: ctx}
	if jobs = w.awaitSent(jobs); len(jobs) > 0 {
		s, err := c.connected(ctx, nil)
		for _, job := range jobs {
			if err != nil {
				w.told(job, err)
			}
		}
		if err == nil {
			w.deleteAll(s, w.lookUp(s, jobs))
		}
	}
	return w.failed, w.err
}

// told takes the result of an attempt at a clean-up.
func (w *sweep) told(job *cleanup, err error) {
	switch {
	case err == nil, errors.Is(err, zk.ErrNoNode):
		if job.reserved == nil {
			w.client.unmade(job.path)
		}
	case mayGoOn(err, &job.tries):
		w.failed, w.err = append(w.failed, job), err
		return
	case w.ctx.Err() != nil: // the client is closed, and gives up all of them
	default:
		w.client.cleanupFailed(job.name(), err)
	}
	if job.reserved != nil {
		job.reserved.release(0)
	}
}

// awaitSent waits for the deletes that were sent already, or are about to be,
// and returns the other clean-ups.
func (w *sweep) awaitSent(jobs []*cleanup) (others []*cleanup) {
	for _, job := range jobs {
		if job.place != nil {
			job.sent, _, _ = job.sentIn.inLine(w.ctx, job.place) // nil if the connection ended before
			job.place = nil
		}
		sent, in := job.sent, job.sentIn
		job.sent, job.sentIn = nil, nil
		if sent == nil {
			others = append(others, job)
			continue
		}
		_, err := job.request().await(w.ctx, in, sent, nil)
		w.told(job, err)
	}
	return others
}

// deleteAll deletes the nodes of clean-ups.
func (w *sweep) deleteAll(s *Session, jobs []*cleanup) {
	askAll(w.ctx, s, jobs, (*cleanup).request, func(job *cleanup, _ struct{}, err error) { w.told(job, err) })
}

func (job *cleanup) request() request[struct{}] { return deleteRequest(job.path, job.version) }

// lookUp makes the look-ups that clean-ups need, and returns the deletes that
// are left then. One sync comes first, so that the server knows of all writes
// that earlier connections of the session have sent.
func (w *sweep) lookUp(s *Session, jobs []*cleanup) (deletes []*cleanup) {
	var reserved []*cleanup
	var parents []*doubtful
	below := map[string]*doubtful{}
	for _, job := range jobs {
		switch {
		case job.reserved != nil && job.madeIn != s: // no node of this session can be confused with that one
			w.told(job, nil)
		case job.reserved != nil:
			reserved = append(reserved, job)
		case job.guid == "":
			deletes = append(deletes, job)
		default:
			d := below[job.parent]
			if d == nil {
				d = &doubtful{parent: job.parent}
				below[job.parent] = d
				parents = append(parents, d)
			}
			d.jobs = append(d.jobs, job)
		}
	}
	if err := w.syncFor(s, reserved, parents); err != nil {
		return deletes
	}
	w.settleAll(s, reserved)
	return append(deletes, w.findAll(s, parents)...)
}

// doubtful are the clean-ups of nodes that may be below one parent.
type doubtful struct {
	parent string
	jobs   []*cleanup
}

// syncFor makes the sync, if there is anything to look up.
func (w *sweep) syncFor(s *Session, reserved []*cleanup, parents []*doubtful) error {
	var path string
	switch {
	case len(reserved) > 0:
		path = reserved[0].path
	case len(parents) > 0:
		path = parents[0].parent
	default:
		return nil
	}
	_, err := syncPath(w.ctx, s, path)
	if err == nil {
		return nil
	}
	for _, job := range reserved {
		w.told(job, err)
	}
	for _, d := range parents {
		for _, job := range d.jobs {
			w.told(job, err)
		}
	}
	return err
}

// settleAll finds out whether reserved nodes exist, and ends the reservations.
func (w *sweep) settleAll(s *Session, jobs []*cleanup) {
	ask := func(job *cleanup) request[*zk.Stat] { return existsRequest(job.path, false) }
	askAll(w.ctx, s, jobs, ask, func(job *cleanup, stat *zk.Stat, err error) {
		if err == nil {
			job.reserved.release(stat.Czxid)
			return
		}
		w.told(job, err)
	})
}

// findAll lists each parent once, and returns the clean-ups whose nodes exist.
func (w *sweep) findAll(s *Session, parents []*doubtful) (found []*cleanup) {
	ask := func(d *doubtful) request[childrenAndStat] { return childrenRequest(d.parent, false) }
	askAll(w.ctx, s, parents, ask, func(d *doubtful, siblings childrenAndStat, err error) {
		names := protectedNames(siblings.names)
		for _, job := range d.jobs {
			name, there := names[protectedPrefix(job.guid)]
			if err != nil || !there {
				w.told(job, err)
				continue
			}
			job.path, job.parent, job.guid = joinPath(d.parent, name), "", ""
			found = append(found, job)
		}
	})
	return found
}

func (job *cleanup) name() string {
	if job.guid != "" {
		return joinPath(job.parent, protectedPrefix(job.guid))
	}
	return job.path
}

// askAll makes many requests ahead of their answers, in order and a bounded
// number at a time. It passes on the result of each, and goes on after errors.
func askAll[A, T any](ctx context.Context, s *Session, args []A, q func(A) request[T], told func(A, T, error)) {
	var none T
	var window [pipelineDepth]*transport.Call
	for i := range len(args) + pipelineDepth {
		slot := &window[i%pipelineDepth]
		if call := *slot; call != nil {
			arg := args[i-pipelineDepth]
			v, err := q(arg).await(ctx, s, call, nil)
			told(arg, v, err)
			*slot = nil
		}
		if i < len(args) {
			call, err := q(args[i]).start(ctx, s, nil)
			if err != nil {
				told(args[i], none, err)
				continue
			}
			*slot = call
		}
	}
}
