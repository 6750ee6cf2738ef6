package framework

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
)

// insiderClient has the additional methods for the recipes of this module. Package
// insider has their contract.
type insiderClient struct{ *Client }

func init() {
	insider.Register(insiderOf, func(suspended func() time.Duration) any {
		return Option(func(c *config) { c.suspended = suspended })
	})
}

func insiderOf(client any) insider.Client {
	switch c := client.(type) {
	case *Client:
		return insiderClient{c}
	case Extension:
		return insiderClient(c)
	}
	panic(fmt.Sprintf("framework: %T is not a client", client))
}

func (c insiderClient) Clock() time.Time { return c.now() }

func (c insiderClient) Emit(call func()) { c.emitter.post(call) }

func (c insiderClient) Watches() int {
	s := c.newest()
	if s == nil {
		return 0
	}
	return s.watches.Count()
}

func (c insiderClient) KeepUntil(session int64, path string, until time.Time) (takeBack func()) {
	s := c.newest()
	if s == nil || s.ID() != session { // Close leaves an ended session to the servers
		return func() {}
	}
	path = c.full(path)
	s.kept.add(path, until)
	return func() { s.kept.takeBack(path, until) }
}

func (c insiderClient) AwaitOutage(ctx context.Context) error {
	var outage <-chan time.Time // nil while there is a connection
	now := c.lastChange()
	for {
		switch {
		case now.Value.State.IsConnected():
			outage = nil
		case outage == nil:
			outage = time.After(c.cfg.connectionTimeout)
		}
		select {
		case <-now.Done():
			now = now.Next()
		case <-outage:
			return c.whyNotConnected()
		case <-c.ctx.Done():
			return ErrClosed
		case <-ctx.Done():
			return reason.OfContext(ctx)
		}
	}
}

func (c *Client) whyNotConnected() error {
	_, _, refused := c.sessionNow()
	select {
	case <-refused:
		return c.refused()
	default:
		return c.withConnectReasons(ErrNotConnected)
	}
}

func (c insiderClient) Siblings(ctx context.Context, parent string) ([]string, error) {
	gone := c.givenUp.under(c.full(parent), c.newest())
	names, err := read(ctx, c.Client, "children", parent, proto.ChildNames(c.full(parent)))
	return gone.cutFrom(names), err
}

func (c insiderClient) CurrentSiblings(ctx context.Context, parent string) (names []string, stat *zk.Stat, err error) {
	full := c.full(parent)
	err = c.do(ctx, "children", parent, nil, func(ctx context.Context, s *Session) error {
		gone := c.givenUp.under(full, s)
		found, err := c.syncAndList(ctx, s, full)
		names, stat = gone.cutFrom(found.Names), (*zk.Stat)(found.Stat)
		return err
	})
	return names, stat, err
}

func (c insiderClient) syncAndList(ctx context.Context, s *Session, parent string) (proto.ChildrenAnswer, error) {
	list := proto.Children(parent, false)
	if c.cfg.strictContact {
		return afterQuorum(ctx, s, list)
	}
	syncing, listing := newPending(s, proto.Sync(parent)), newPending(s, list)
	if err := s.start(ctx, &syncing.Call, &listing.Call); err != nil {
		return proto.ChildrenAnswer{}, err
	}
	if _, err := syncing.await(ctx, nil); err != nil {
		return proto.ChildrenAnswer{}, err
	}
	if !listing.IsSent() { // there was no room for it on the connection
		return send(ctx, s, list, nil)
	}
	return listing.await(ctx, nil)
}

func (c insiderClient) WhileConnected(ctx, connection context.Context) context.Context {
	return whileConnected{ctx, c.core, connection}
}

// whileConnected has the connection as the value of a key.
type whileConnected struct {
	context.Context
	of         *core
	connection context.Context
}

func (c whileConnected) Value(key any) any {
	if key == (connectionKey{c.of}) {
		return c.connection
	}
	return c.Context.Value(key)
}

// errReconnected is the error of an operation that is cut off when there is another
// connection.
var errReconnected = fmt.Errorf("%w by the connection that the operation depends on", ErrNotConnected)

// connectionKey is the context key of the connection whose end an operation must not
// survive, for each client. The value is a context that ends with the connection.
type connectionKey struct{ *core }

// connectionOf returns the connection whose end an operation with ctx must not survive,
// or nil.
func (c *core) connectionOf(ctx context.Context) context.Context {
	connection, _ := ctx.Value(connectionKey{c}).(context.Context)
	return connection
}

// isCutOff reports whether an operation with ctx must not wait for a connection.
func (c *core) isCutOff(ctx context.Context) bool {
	connection := c.connectionOf(ctx)
	return connection != nil && connection.Err() != nil
}
