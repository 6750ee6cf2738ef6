package framework

import (
	"context"
	"errors"
	"math"
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

// Delete deletes a node without children if it has the given version. AnyVersion always matches.
//
// A missing node is zk.ErrNoNode, another version zk.ErrBadVersion, a child zk.ErrNotEmpty. If the connection breaks
// while the reply is awaited, the delete is repeated; a node that is missing then counts as deleted if the version did
// not matter, and is ErrOutcomeUnknown if it did. A repeated delete may hit a node that somebody has created anew
// meanwhile, if it has the version. If ctx ends while the reply is awaited, the error matches ErrOutcomeUnknown.
func (c *Client) Delete(ctx context.Context, path string, version int32, opts ...DeleteOption) error {
	d := deleteAttempts{path: c.full(path), version: version}
	for _, opt := range opts {
		opt(&d)
	}
	err := c.do(ctx, "delete", path, d.attempt)
	if d.guaranteed && err != nil && !refused(err) {
		c.deleteInBackground(d.path)
	}
	return stillInDoubt(ctx, d.inDoubt, err)
}

// DeleteInBackground is a Guaranteed Delete of AnyVersion that nobody waits for.
func (c *Client) DeleteInBackground(path string) {
	if validatePath(path) == nil {
		c.deleteInBackground(c.full(path))
	}
}

// refused reports whether the server, or the client itself, has judged the request, so that repeating it is in vain.
func refused(err error) bool {
	for _, e := range []error{
		ErrClosed, zk.ErrInvalidPath, zk.ErrNoAuth, zk.ErrAuthFailed, zk.ErrBadVersion, zk.ErrNotEmpty, zk.ErrBadArguments,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// unfinished reports whether an operation failed for reasons that do not concern its request.
func unfinished(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil && errors.Is(err, ctx.Err()) || IsConnectionError(err))
}

// deleteAttempts are the attempts at one Delete.
type deleteAttempts struct {
	path       string
	version    int32
	guaranteed bool
	inDoubt    bool // an earlier attempt may have been applied
}

func (d *deleteAttempts) attempt(ctx context.Context, s *Session) error {
	err := deleteNode(ctx, s, d.path, d.version)
	switch {
	case errors.Is(err, zk.ErrNoNode) && d.guaranteed:
		return nil
	case errors.Is(err, zk.ErrNoNode) && d.inDoubt && d.version == AnyVersion:
		return nil
	case d.inDoubt && (errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNotEmpty)):
		return unknownOutcome(err) // for what is there now may be another's, made after our delete
	case departed(ctx, err):
		return unknownOutcome(err)
	case ambiguous(err):
		d.inDoubt = true
	}
	return err
}

// deleteInBackground deletes a node, however long it takes to find a connection.
func (c *Client) deleteInBackground(path string) {
	c.inBackground(func(ctx context.Context, s *Session) error {
		d := deleteAttempts{path: path, version: AnyVersion, guaranteed: true}
		return d.attempt(ctx, s)
	})
}

// cleanupPolicy never gives up.
var cleanupPolicy = retry.BoundedExponential(100*time.Millisecond, 5*time.Second, math.MaxInt)

// inBackground runs a clean-up until it succeeds, fails for good, or the client is closed. It never runs on a
// caller's context: the end of that context is the usual reason for a clean-up.
func (c *Client) inBackground(job func(context.Context, *Session) error) {
	c.Go(func(ctx context.Context) {
		persistent := func(err error) bool { return !refused(err) }
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
