package framework

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/retry"
)

// AnyVersion matches every version of a node.
const AnyVersion int32 = -1

// result is what one request of the library returned.
type result[T any] struct {
	value T
	err   error
}

// send makes one request in a session and returns when it is answered or ctx ends. The library's calls cannot be
// cancelled: if ctx ends first, the request goes on by itself, and late gets its result when there is one.
func send[T any](ctx context.Context, s *Session, request func(*zk.Conn) (T, error), late func(T, error)) (T, error) {
	var none T
	if ctx.Err() != nil {
		return none, fmt.Errorf("%w: %w", errNotSent, retry.ContextError(ctx))
	}
	if ctx.Done() == nil { // nothing can end the wait but the answer and the session's own end
		v, err := request(s.conn)
		return v, s.explain(err)
	}
	var settled atomic.Bool // by the answer or by the caller's departure, whichever is first
	answer := make(chan result[T], 1)
	started := s.client.Go(func(context.Context) {
		v, err := request(s.conn)
		if err = s.explain(err); settled.CompareAndSwap(false, true) {
			answer <- result[T]{v, err}
		} else if late != nil {
			late(v, err)
		}
	})
	if !started {
		return none, ErrClosed
	}
	select {
	case r := <-answer:
		return r.value, r.err
	case <-ctx.Done():
	}
	if settled.CompareAndSwap(false, true) {
		return none, retry.ContextError(ctx)
	}
	r := <-answer // the answer was first after all
	return r.value, r.err
}

// explain gives an error of the library its type, and says why a request failed if the session's end is the reason.
func (s *Session) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case s.client.ctx.Err() != nil && IsConnectionError(err):
		return ErrClosed
	case s.ctx.Err() != nil && IsConnectionError(err):
		return fmt.Errorf("%w: %w", ErrSessionLost, err)
	default:
		return fromLibrary(err)
	}
}

// do runs an operation in the client's retry loop. Each attempt gets the session that is connected then.
func (c *Client) do(ctx context.Context, op, path string, attempt func(context.Context, *Session) error) error {
	if err := validatePath(path); err != nil {
		return &OpError{op, path, err}
	}
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
	return &OpError{op, path, err}
}

// read runs an operation that changes nothing, so that every attempt is as good as the first.
func read[T any](ctx context.Context, c *Client, op, path string, request func(conn *zk.Conn, path string) (T, error)) (T, error) {
	var v T
	err := c.do(ctx, op, path, func(ctx context.Context, s *Session) (err error) {
		v, err = send(ctx, s, func(conn *zk.Conn) (T, error) { return request(conn, c.full(path)) }, nil)
		return err
	})
	return v, err
}

type dataAndStat struct {
	data []byte
	stat *zk.Stat
}

// Get returns a node's data and Stat. A missing node is zk.ErrNoNode.
func (c *Client) Get(ctx context.Context, path string) ([]byte, *zk.Stat, error) {
	r, err := read(ctx, c, "get", path, getData)
	return r.data, r.stat, err
}

func getData(conn *zk.Conn, path string) (dataAndStat, error) {
	data, stat, err := conn.Get(path)
	if err != nil { // the library returns half-filled values along with errors
		return dataAndStat{}, err
	}
	return dataAndStat{data, stat}, nil
}

// Exists returns whether there is a node, and its Stat if there is.
func (c *Client) Exists(ctx context.Context, path string) (bool, *zk.Stat, error) {
	stat, err := read(ctx, c, "exists", path, exists)
	return stat != nil, stat, err
}

func exists(conn *zk.Conn, path string) (*zk.Stat, error) {
	ok, stat, err := conn.Exists(path)
	if err != nil || !ok {
		return nil, err
	}
	return stat, nil
}

type childrenAndStat struct {
	names []string
	stat  *zk.Stat
}

// Children returns the names of a node's children, in no particular order, and the node's Stat. A missing node is
// zk.ErrNoNode.
func (c *Client) Children(ctx context.Context, path string) ([]string, *zk.Stat, error) {
	r, err := read(ctx, c, "children", path, children)
	return r.names, r.stat, err
}

func children(conn *zk.Conn, path string) (childrenAndStat, error) {
	names, stat, err := conn.Children(path)
	if err != nil {
		return childrenAndStat{}, err
	}
	return childrenAndStat{names, stat}, nil
}

// Sync waits until the server that this client is connected to has caught up with everything that was committed
// before the call. A read that follows it sees that much.
func (c *Client) Sync(ctx context.Context, path string) error {
	_, err := read(ctx, c, "sync", path, (*zk.Conn).Sync)
	return err
}
