package framework

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/retry"
)

// DeleteOption configures a Delete.
type DeleteOption func(*deleteAttempts)

// Guaranteed makes Delete a promise: if the call cannot do it, because ctx has ended, there is no connection, or the server
// is in trouble, the client goes on in the background until the node is gone or the client is closed. The call still
// returns the error. A missing node is success. What the server refuses, for want of rights or because there are
// children, stays refused. Use it for nodes of your own with unique names, with AnyVersion.
func Guaranteed() DeleteOption {
	return func(d *deleteAttempts) { d.guaranteed = true }
}

// Quietly makes a missing node a success.
func Quietly() DeleteOption {
	return func(d *deleteAttempts) { d.quietly = true }
}

// WithChildren deletes what is below the node first, from the bottom up. Nodes that vanish meanwhile are what is wanted;
// for nodes that appear meanwhile it goes back, several times, and then fails with zk.ErrNotEmpty. A Delete that fails may
// have deleted some of the nodes below, never one beside or above the path.
//
// The version is the node's own. It is compared before anything is deleted, and once more when the node is: if somebody
// writes the node in between, the nodes below are gone all the same. The right to list and to delete children is
// needed on every node that has some.
func WithChildren() DeleteOption {
	return func(d *deleteAttempts) { d.children = true }
}

// Delete deletes a node without children if it has the given version. AnyVersion always matches.
//
// A missing node is zk.ErrNoNode, another version zk.ErrBadVersion, a child zk.ErrNotEmpty. If the connection breaks
// while the reply is awaited, the delete is repeated; a node that is missing then counts as deleted if the version did
// not matter, and is ErrOutcomeUnknown if it did. A repeated delete may hit a node that somebody has created anew
// meanwhile, if it has the version. If ctx ends while the reply is awaited, the error matches ErrOutcomeUnknown. The
// server's own nodes, "/" and "/zookeeper", are zk.ErrBadArguments.
func (c *Client) Delete(ctx context.Context, path string, version int32, opts ...DeleteOption) error {
	d := deleteAttempts{path: c.full(path), version: version}
	for _, opt := range opts {
		opt(&d)
	}
	inDoubt := func(err error) bool { return d.inDoubt || d.begun && !IsRefusal(err) }
	err := errPanicked // unless write returns
	defer func() {
		if d.guaranteed && err != nil && !IsRefusal(err) {
			c.finishInBackground(d)
		}
	}()
	err = c.write(ctx, "delete", path, inDoubt, d.attempt)
	return err
}

// DeleteInBackground is a Guaranteed Delete of AnyVersion that nobody waits for. While there is a connection, what the
// caller asks of the server next comes behind it.
func (c *Client) DeleteInBackground(path string) {
	if validatePath(path) == nil {
		c.deleteInBackground(c.full(path))
	}
}

// deleteAttempts are the attempts at one Delete.
type deleteAttempts struct {
	path       string
	version    int32
	guaranteed bool
	quietly    bool
	children   bool
	inDoubt    bool // an earlier attempt may have deleted the node
	begun      bool // nodes below may have been deleted

	sent func(context.Context) error // waits for a request that is on its way; may be nil
}

func (d *deleteAttempts) attempt(ctx context.Context, s *Session) error {
	err := d.delete(ctx, s)
	if errors.Is(err, zk.ErrNoNode) && (d.guaranteed || d.quietly || d.inDoubt && d.version == AnyVersion) {
		return nil
	}
	return err // if d is in doubt, what is there now may be another's, made after our delete
}

func (d *deleteAttempts) delete(ctx context.Context, s *Session) error {
	for round := 1; ; round++ {
		err := d.deleteNode(ctx, s)
		d.inDoubt = d.inDoubt || ambiguous(err)
		if !d.children || !errors.Is(err, zk.ErrNotEmpty) || round > maxDeleteRounds {
			return err
		}
		if err := d.deleteBelow(ctx, s); err != nil {
			return err
		}
	}
}

func (d *deleteAttempts) deleteNode(ctx context.Context, s *Session) error {
	if await := d.sent; await != nil {
		d.sent = nil
		return await(ctx)
	}
	return deleteNode(ctx, s, d.path, d.version)
}

// maxDeleteRounds bounds how often somebody may create nodes in a tree that is being deleted.
const maxDeleteRounds = 10

// deleteBelow deletes what is below the node, but for what appears meanwhile.
func (d *deleteAttempts) deleteBelow(ctx context.Context, s *Session) error {
	below, err := descendants(ctx, s, d.path)
	if err != nil {
		return err
	}
	d.begun = d.begun || len(below) > 0
	slices.Reverse(below) // A server carries out the requests of a connection in order, so there is no need to wait for each level.
	remove := func(path string) request[struct{}] { return deleteRequest(path, AnyVersion) }
	return pipeline(ctx, s, below, remove, func(path string, _ struct{}, err error) error {
		switch {
		case err == nil, errors.Is(err, zk.ErrNoNode), errors.Is(err, zk.ErrNotEmpty):
			return nil
		}
		return fmt.Errorf("node %s: %w", path, err)
	})
}

// descendants returns what is below a node, each node behind its parent.
func descendants(ctx context.Context, s *Session, path string) ([]string, error) {
	list := func(path string) request[childrenAndStat] { return childrenRequest(path, false) }
	var all []string
	for level := []string{path}; len(level) > 0; {
		var next []string
		err := pipeline(ctx, s, level, list, func(parent string, found childrenAndStat, err error) error {
			if errors.Is(err, zk.ErrNoNode) {
				return nil
			}
			for _, name := range found.names {
				next = append(next, joinPath(parent, name))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		all = append(all, next...)
		level = next
	}
	return all, nil
}

// deleteInBackground deletes a node, however long it takes to find a connection.
func (c *Client) deleteInBackground(path string) {
	c.finishInBackground(deleteAttempts{path: path, version: AnyVersion, guaranteed: true})
}

func (c *Client) finishInBackground(d deleteAttempts) {
	d.sent = c.begin(d)
	c.inBackground(d.attempt)
}

// begin sends the request of a delete at once, if that can be done without waiting, and returns what waits for its
// answer, or nil. The caller's next request comes behind it: who has given a node up does not find it.
func (c *Client) begin(d deleteAttempts) (await func(context.Context) error) {
	s, _, _ := c.sessionNow()
	if s == nil || d.children {
		return nil
	}
	q := deleteRequest(d.path, d.version)
	call, _, err := s.link.Send(q.op, q.payload, nil)
	if call == nil || err != nil {
		return nil
	}
	return func(ctx context.Context) error {
		_, err := q.await(ctx, s, call, nil)
		return err
	}
}

// cleanupPolicy never gives up.
var cleanupPolicy = retry.BoundedExponential(100*time.Millisecond, 5*time.Second, math.MaxInt)

// inBackground runs a clean-up until it succeeds, fails for good, or the client is closed. It never runs on a
// caller's context: the end of that context is the usual reason for a clean-up.
func (c *Client) inBackground(job func(context.Context, *Session) error) {
	c.Go(func(ctx context.Context) {
		persistent := func(err error) bool { return !IsRefusal(err) }
		err := retry.Do(ctx, cleanupPolicy, persistent, func(ctx context.Context) error {
			s, err := c.connected(ctx, nil)
			if err != nil {
				return err
			}
			return job(ctx, s)
		})
		if err != nil && ctx.Err() == nil {
			c.cfg.logger.Warn("zookeeper clean-up failed", "error", err)
		}
	})
}
