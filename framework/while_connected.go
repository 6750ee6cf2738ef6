package framework

import (
	"context"

	"github.com/gocurator/curator/state"
)

// WhileConnected returns a context for operations of the client that do not
// outlast an interruption of the session's connection. After it, none waits for
// another connection, or tries again: it returns its error at once, which matches
// the cause, such as ErrSuspended. The connection may be interrupted already. The
// context itself does not end.
//
// It is for callers that can leave the rest to the client, such as a delete
// WithGuarantee.
func (e Extension) WhileConnected(ctx context.Context, s *Session) context.Context {
	return context.WithValue(ctx, connectionKey{e.core}, s.Trusted(state.StandardPolicy))
}

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
