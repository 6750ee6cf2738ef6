package framework

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// sweep is one attempt at many clean-ups.
type sweep struct {
	client *Client
	ctx    context.Context
	failed []*cleanup // these must be tried again
	err    error      // why, for one of them
}

// sweep tries each clean-up once, and sends their requests ahead of the
// answers. It returns the clean-ups that must be tried again, with the error of
// one of them. It waits for a connection.
func (c *Client) sweep(ctx context.Context, jobs []*cleanup) ([]*cleanup, error) {
	w := &sweep{client: c, ctx: ctx}
	if jobs = w.awaitSent(jobs); len(jobs) > 0 {
		s, err := c.connected(ctx, nil)
		for _, job := range jobs {
			if err != nil {
				w.finish(job, err)
			}
		}
		if err == nil {
			w.deleteAll(s, w.lookUp(s, jobs))
		}
	}
	return w.failed, w.err
}

// finish takes the result of an attempt at a clean-up.
func (w *sweep) finish(job *cleanup, err error) {
	switch {
	case err == nil, reason.Is(err, zk.ErrNoNode):
		w.client.nodeGone(job.path)
	case isWorthRepeating(err, &job.tries):
		w.failed, w.err = append(w.failed, job), err
	case w.ctx.Err() != nil: // the client is closed, and gives up all of them
	default:
		w.client.warnOfCleanup(job.name(), err)
	}
}

var errUnfinished = errors.New("clean-up is not finished")

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

// maxCleanupTries bounds how often a server may fail at a clean-up, or answer
// with garbage. Attempts without a connection do not count.
const maxCleanupTries = 20

func (c *Client) warnOfCleanup(path string, err error) {
	c.cfg.logger.Warn("zookeeper clean-up failed", "error", &OpError{"clean up", path, err})
}

// awaitSent waits for the deletes that were sent already, or are about to be,
// and returns the other clean-ups.
func (w *sweep) awaitSent(jobs []*cleanup) (others []*cleanup) {
	for _, job := range jobs {
		if job.place != nil {
			calls, _ := job.sentIn.awaitRoom(w.ctx, w.ctx.Done(), job.place)
			job.sent, job.place = calls[0], nil // no call if the connection ended before
		}
		p := pending[proto.Nothing]{session: job.sentIn, request: job.request(), call: job.sent}
		job.sent, job.sentIn = nil, nil
		if p.call == nil {
			others = append(others, job)
			continue
		}
		_, err := p.await(w.ctx, nil)
		w.finish(job, err)
	}
	return others
}

// deleteAll deletes the nodes of clean-ups.
func (w *sweep) deleteAll(s *Session, jobs []*cleanup) {
	pipelineAll(w.ctx, s, jobs, (*cleanup).request, func(job *cleanup, _ proto.Nothing, err error) {
		w.finish(job, err)
	})
}

// lookUp makes the look-ups that clean-ups need, and returns the deletes that
// are left then. One transaction comes first, so that the server knows of all
// writes that earlier connections of the session have sent.
func (w *sweep) lookUp(s *Session, jobs []*cleanup) (deletes []*cleanup) {
	var parents []*unknownNodes
	below := map[string]*unknownNodes{}
	for _, job := range jobs {
		if job.guid == "" {
			deletes = append(deletes, job)
			continue
		}
		d := below[job.parent]
		if d == nil {
			d = &unknownNodes{parent: job.parent}
			below[job.parent] = d
			parents = append(parents, d)
		}
		d.jobs = append(d.jobs, job)
	}
	if err := w.passQuorumFor(s, parents); err != nil {
		return deletes
	}
	return append(deletes, w.findProtected(s, parents)...)
}

// notThere takes the result of a look that has not found the node. A request
// that may still come makes it one that has failed.
func (w *sweep) notThere(s *Session, job *cleanup, err error) {
	if (err == nil || reason.Is(err, zk.ErrNoNode)) && job.mayCome(s) {
		w.failed, w.err = append(w.failed, job), errUnfinished
		return
	}
	w.finish(job, err)
}

// unknownNodes are the clean-ups of nodes that may be below one parent.
type unknownNodes struct {
	parent string
	jobs   []*cleanup
}

// passQuorumFor makes the transaction, if there is anything to look up.
func (w *sweep) passQuorumFor(s *Session, parents []*unknownNodes) error {
	if len(parents) == 0 {
		return nil
	}
	err := passQuorum(w.ctx, s)
	if err == nil {
		return nil
	}
	for _, d := range parents {
		for _, job := range d.jobs {
			w.finish(job, err)
		}
	}
	return err
}

// findProtected lists each parent once, and returns the clean-ups whose nodes
// exist.
func (w *sweep) findProtected(s *Session, parents []*unknownNodes) (found []*cleanup) {
	ask := func(d *unknownNodes) proto.Request[proto.ChildrenAnswer] { return proto.Children(d.parent, false) }
	pipelineAll(w.ctx, s, parents, ask, func(d *unknownNodes, siblings proto.ChildrenAnswer, err error) {
		names := protectedNames(siblings.Names)
		for _, job := range d.jobs {
			these := names[protectedPrefix(job.guid)]
			if len(these) == 0 {
				w.notThere(s, job, err)
			}
			for _, name := range these {
				found = append(found, &cleanup{path: znode.Join(d.parent, name), version: job.version, tries: job.tries})
			}
		}
	})
	return found
}
