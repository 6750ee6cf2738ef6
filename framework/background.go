package framework

import (
	"context"

	"github.com/gocurator/curator/internal/random"
	"github.com/gocurator/curator/retry"
)

// begin sends the request of a delete at once, or makes it wait for room. The
// caller's next request comes behind it, so that callers do not find a node
// that they have given up.
func (c *Client) begin(job *cleanup) {
	s, _, _ := c.sessionNow()
	if s == nil {
		return
	}
	q := job.request()
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
	random.Shuffle(jobs)
	return jobs
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
