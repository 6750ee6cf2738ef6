package framework

import (
	"context"
	"fmt"

	"github.com/gocurator/curator/framework/internal/teller"
)

// WhileConnected returns a context for operations of the client that do not
// outlast a connection, which is what Session.Trusted returns for
// state.StandardPolicy. After its end, none waits for another connection, uses one,
// or tries again: it returns its error at once, which matches the cause, such as
// ErrSuspended. The cause may be missing if the retry policy allows no other try. The
// connection may be interrupted already. The context itself does not end, but a Teller
// waits as if it did. WhileConnected asks ctx nothing.
//
// It is for callers that can leave the rest to the client, such as a delete
// WithGuarantee.
func (e Extension) WhileConnected(ctx, connection context.Context) context.Context {
	return whileConnected{ctx, e.core, connection}
}

// whileConnected has the connection as the value of two keys.
type whileConnected struct {
	context.Context
	of         *core
	connection context.Context
}

func (c whileConnected) Value(key any) any {
	if key == (connectionKey{c.of}) || key == (teller.EndKey{}) {
		return c.connection
	}
	return c.Context.Value(key)
}

// errReconnected is for an operation that is cut off when there is another
// connection.
var errReconnected = fmt.Errorf("%w by the connection that the operation depends on", ErrNotConnected)

// connectionKey is the key of the connection that an operation does not outlast,
// for each client. The value is a context that ends with the connection.
type connectionKey struct{ *core }

// connectionOf returns the connection that an operation with ctx does not outlast,
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
