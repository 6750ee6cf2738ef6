package framework

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/retry"
)

// AnyVersion matches every version of a node.
const AnyVersion int32 = -1

// do is the way of every operation: it checks the path, and tells the Tracer if there is one. Each attempt gets the
// session that is connected then.
func (c *Client) do(ctx context.Context, op, path string, attempt func(context.Context, *Session) error) error {
	return c.write(ctx, op, path, func(error) bool { return false }, attempt)
}

// write is do for an operation that changes something. When it has failed, inDoubt says whether an attempt before the last
// may have been applied.
func (c *Client) write(ctx context.Context, op, path string, inDoubt func(error) bool, attempt func(context.Context, *Session) error) error {
	if err := validatePath(path); err != nil {
		return &OpError{op, path, err}
	}
	run := c.run
	if c.cfg.tracer != nil {
		run = c.traced
	}
	return run(ctx, op, path, inDoubt, attempt)
}

// run runs an operation in the client's retry loop.
func (c *Client) run(ctx context.Context, op, path string, inDoubt func(error) bool, attempt func(context.Context, *Session) error) error {
	err := retry.DoUntil(ctx, c.ctx.Done(), c.cfg.retry, retryable, func(ctx context.Context) error {
		s, err := c.connectedSession(ctx)
		if err != nil {
			return err
		}
		return attempt(ctx, s)
	})
	switch {
	case err == nil:
		return nil
	case c.ctx.Err() != nil && IsConnectionError(err): // closed during a pause
		err = fmt.Errorf("%w: %w", ErrClosed, err)
	}
	if inDoubt(err) && !errors.Is(err, ErrOutcomeUnknown) {
		err = unknownOutcome(err)
	}
	return &OpError{op, path, err}
}

// reader makes one request that changes nothing.
type reader[T any] func(ctx context.Context, s *Session, path string) (T, error)

// read runs an operation that changes nothing, so that every attempt is as good as the first.
func read[T any](ctx context.Context, c *Client, op, path string, request reader[T]) (T, error) {
	var v T
	err := c.do(ctx, op, path, func(ctx context.Context, s *Session) (err error) {
		v, err = request(ctx, s, c.full(path))
		return err
	})
	return v, err
}

// Get returns a node's data and Stat. A missing node is zk.ErrNoNode.
func (c *Client) Get(ctx context.Context, path string) ([]byte, *zk.Stat, error) {
	r, err := read(ctx, c, "get", path, getData)
	return r.data, r.stat, err
}

// Exists returns whether there is a node, and its Stat if there is.
func (c *Client) Exists(ctx context.Context, path string) (bool, *zk.Stat, error) {
	stat, err := read(ctx, c, "exists", path, exists)
	return stat != nil, stat, err
}

// Children returns the names of a node's children, in no particular order, and the node's Stat. A missing node is
// zk.ErrNoNode.
func (c *Client) Children(ctx context.Context, path string) ([]string, *zk.Stat, error) {
	r, err := read(ctx, c, "children", path, children)
	return r.names, r.stat, err
}

// Sync waits until the server that this client is connected to has caught up with everything that was committed
// before the call. A read that follows it sees that much.
func (c *Client) Sync(ctx context.Context, path string) error {
	_, err := read(ctx, c, "sync", path, syncPath)
	return err
}
