package framework

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/retry"
)

// cleanup is one thing that a client has promised to do although no caller
// waits for it: to delete a node, or to find out whether there is one. A
// connection that is lost with much under way can leave thousands of them.
type cleanup struct {
	path    string // of the node
	version int32
	tries   int // at which the server has failed

	// Set if a delete was sent already, or waits for room on the connection.
	sent   *transport.Call
	place  *transport.Waiter
	sentIn *Session

	// Set if the node's name is not known yet: it is below parent, if it
	// exists.
	parent, guid string

	// Set if the node stays, and a reservation waits for the answer whether
	// madeIn has made it.
	reserved *reservation

	// madeIn is the session in which the node may have been made. It is nil if
	// that does not matter.
	madeIn *Session
}

func (job *cleanup) request() proto.Request[proto.Nothing] {
	return proto.Delete(job.path, job.version)
}

// mayCome reports whether the node may still be made although a look in this
// session has not found it.
func (job *cleanup) mayCome(s *Session) bool {
	return job.madeIn != nil && job.madeIn != s && time.Now().Before(job.madeIn.lateUntil())
}

// name is what the log calls the node.
func (job *cleanup) name() string {
	if job.guid != "" {
		return znode.Join(job.parent, protectedPrefix(job.guid))
	}
	return job.path
}

// cleanups are the clean-ups that a client still has to do. One goroutine tries
// the new ones. Another one repeats the failed ones, so that its pauses do not
// hold up the new ones. A goroutine exists only while it has work.
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

// finished reports whether the goroutine may end, because there is nothing more
// to do.
func (b *backlog) finished() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.busy = len(b.jobs) > 0
	return !b.busy
}

// begin sends the request of a delete at once, or makes it wait for room. The
// caller's next request comes behind it, so that callers do not find a node
// that they have given up.
func (c *Client) begin(job *cleanup) {
	s, _, _ := c.sessionNow()
	if s == nil {
		return
	}
	q := job.request()
	if c.suspects.IsHeldBack(onWire(q)) {
		return
	}
	job.sent, job.place, _ = s.link.Send(q.Op, q.Append, nil) // neither if there is no connection
	job.sentIn = s
}

// cleanUp does a job in the background: until it is done or refused, or the
// client is closed. It never uses a caller's context, because the end of that
// context is the usual reason for a clean-up.
func (c *Client) cleanUp(job *cleanup) {
	if c.ctx.Err() == nil && c.cleanups.fresh.add(job) {
		c.spawn(c.cleanUpFresh)
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
			c.spawn(c.cleanUpFailed)
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
// whenever it sees one of the requests, and the requests behind it fail then,
// too. In another order, they are ahead of it.
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

// isWorthRepeating reports whether to try a clean-up again after an error. It
// counts the errors that a server has made.
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

func (c *Client) warnOfCleanup(path string, err error) {
	c.cfg.logger.Warn("zookeeper clean-up failed", "error", &OpError{"clean up", path, err})
}

// inBackground runs a clean-up of many requests. It has a goroutine of its own,
// because the others should not wait for it.
func (c *Client) inBackground(path string, try attempt) {
	c.spawn(func(ctx context.Context) {
		tries := 0
		retryable := func(err error) bool { return isWorthRepeating(err, &tries) }
		err := retry.Do(ctx, cleanupPolicy, retryable, func(ctx context.Context) error {
			s, err := c.connected(ctx, nil)
			if err != nil {
				return err
			}
			return try(ctx, s)
		})
		if err != nil && ctx.Err() == nil {
			c.warnOfCleanup(path, err)
		}
	})
}
