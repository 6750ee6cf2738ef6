package framework

import (
	"context"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/retry"
)

// AnyVersion matches every version of a node. Any other number is a version: a
// node's versions are negative after 2^31 writes.
const AnyVersion int32 = -1

// attempt is one try of an operation, in the session that is connected then.
type attempt func(ctx context.Context, s *Session) error

// do runs an operation. All operations come this way: it checks the path, and
// tells the hooks. When the operation has failed, mayBeApplied
// says whether it may have changed something; it is nil for one that never
// does.
func (c *Client) do(ctx context.Context, op, path string, mayBeApplied func(error) bool, try attempt) error {
	if err := validatePath(path); err != nil {
		return &OpError{op, path, err}
	}
	run := c.run
	if c.core.hooks.Len() > 0 {
		run = c.told
	}
	return run(ctx, op, path, mayBeApplied, try)
}

// run runs an operation in the client's retry loop.
func (c *Client) run(ctx context.Context, op, path string, mayBeApplied func(error) bool, try attempt) error {
	var trouble trouble
	err := retry.DoUntil(ctx, c.ctx.Done(), c.cfg.retry, retryable, func(ctx context.Context) error {
		s, err := c.connectedSession(ctx)
		if err == nil {
			err = try(ctx, s)
		}
		if retryable(err) {
			trouble.note(ctx, op, path, err)
		}
		return err
	})
	err = trouble.named(ctx, err)
	switch {
	case err == nil:
		return nil
	case c.ctx.Err() != nil && IsConnectionError(err): // closed during a pause
		err = fmt.Errorf("%w: %w", ErrClosed, err)
	}
	if mayBeApplied != nil && mayBeApplied(err) && !reason.Is(err, ErrOutcomeUnknown) {
		err = unknownOutcome(err)
	}
	return &OpError{op, path, err}
}

// read runs an operation of one request that changes nothing, so that every
// attempt is as good as the first.
func read[T any](ctx context.Context, c *Client, op, path string, q proto.Request[T]) (T, error) {
	var v T
	err := c.do(ctx, op, path, nil, func(ctx context.Context, s *Session) (err error) {
		v, err = send(ctx, s, q, nil)
		return err
	})
	return v, err
}

// Get returns a node's data and Stat. A missing node is zk.ErrNoNode.
func (c *Client) Get(ctx context.Context, path string) ([]byte, *zk.Stat, error) {
	r, err := read(ctx, c, "get", path, proto.GetData(c.full(path), false))
	return r.Data, (*zk.Stat)(r.Stat), err
}

// Exists returns whether there is a node, and its Stat if there is.
func (c *Client) Exists(ctx context.Context, path string) (bool, *zk.Stat, error) {
	stat, err := read(ctx, c, "exists", path, proto.Exists(c.full(path), false))
	return stat != nil, (*zk.Stat)(stat), err
}

// Children returns the names of a node's children, in no particular order, and
// the node's Stat. A missing node is zk.ErrNoNode.
func (c *Client) Children(ctx context.Context, path string) ([]string, *zk.Stat, error) {
	r, err := read(ctx, c, "children", path, proto.Children(c.full(path), false))
	return r.Names, (*zk.Stat)(r.Stat), err
}

// Sync waits until the server that this client is connected to has caught up
// with its leader. A read that follows it sees everything that was acknowledged
// before the call, to whomever, with two exceptions. Both are about leaders,
// which answer the syncs of their own clients at once:
//
//   - A leader may not have applied yet what its followers have acknowledged
//     already. The read may be older by some milliseconds.
//   - A leader that is cut off from its followers goes on for up to syncLimit
//     times tickTime and a tick, and so do followers that still reach it. The
//     read may be older by that time, while others write at the next leader.
//     The client stays there as long as it is answered. WithStrictContact ends
//     its session within the timeout.
//
// What a client that is cut off reads in the second case is what was there at
// the cut: an old number, and so a CompareAndSwap that is refused, a group
// without its new members, a barrier that is not up yet. Writes are safe: that
// leader does not answer them.
//
// SyncQuorum has no exceptions. With WithQuorumSync, Sync is SyncQuorum.
func (c *Client) Sync(ctx context.Context, path string) error {
	if c.cfg.quorumSync {
		return c.do(ctx, "sync", path, nil, passQuorum)
	}
	_, err := read(ctx, c, "sync", path, proto.Sync(c.full(path)))
	return err
}

// LastZxid returns the newest transaction that an answer to this client's
// requests has told of, whatever the session: of a write, its own or a later
// one. A client that has seen as much has seen what this client has written and
// read. LastZxid is 0 before the first answer.
func (c *Client) LastZxid() int64 {
	c.mu.Lock()
	s, earlier := c.session, c.earlierZxid
	c.mu.Unlock()
	if s == nil {
		return earlier
	}
	return max(earlier, s.link.LastZxid())
}
