package framework

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/internal/reason"
)

// WaitConnected waits until the client has a connection and a session. The connection
// timeout does not apply. WaitConnected returns an *OpError that matches:
//
//   - ctx.Err() if ctx ends first;
//   - ErrClosed if the client is closed;
//   - zk.ErrAuthFailed if a server refuses the credentials.
func (c *Client) WaitConnected(ctx context.Context) error {
	_, err := c.connected(ctx, nil)
	if err != nil {
		return &OpError{"connect", c.servers(), err}
	}
	return nil
}

// Session returns the present session, once it is connected. It waits like an
// operation does.
func (c *Client) Session(ctx context.Context) (*Session, error) {
	s, err := c.connectedSession(ctx)
	if err != nil {
		return nil, &OpError{"session", c.servers(), err}
	}
	return s, nil
}

// InSession pins operations to one session: it calls f with a context for operations that must all
// run in the session that is connected at the start. An operation of this client, on any view,
// that gets this context or a context derived from it never runs in another session, not even by a
// retry. So ephemeral nodes that one operation has created still belong to the session of the next
// operation. The context ends with the session, and has the session's cause, such as
// ErrSessionLost.
//
// An operation in flight at the end of the session fails like any other: the error of a write may
// match ErrOutcomeUnknown.
//
// InSession waits for a connection as operations do, and returns the error of f. If f fails because
// the context has ended with the session, the error also matches the session's cause. InSession
// does not call f again. To start over in the next session, use a retry loop:
//
//	lost := func(err error) bool { return errors.Is(err, framework.ErrSessionLost) }
//	err := retry.Do(ctx, policy, lost, func(ctx context.Context) error { return client.InSession(ctx, f) })
//
// In the next session, f may find ephemeral nodes of the lost session, because the server deletes
// them later.
func (c *Client) InSession(ctx context.Context, f func(ctx context.Context) error) error {
	if f == nil {
		return &OpError{"session", c.servers(), isNil("function")}
	}
	s, err := c.Session(ctx)
	if err != nil {
		return err
	}
	pinned, cancel := context.WithCancelCause(context.WithValue(ctx, pinKey{c.core}, s))
	stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	defer cancel(nil)
	defer stop()
	err = f(pinned)
	cause := context.Cause(s.ctx)
	endedWithSession := cause != nil && ctx.Err() == nil && reason.Is(err, context.Canceled)
	if endedWithSession && !reason.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// pinOf returns the session that operations with this context are pinned to, or nil.
func (c *Client) pinOf(ctx context.Context) *Session {
	pinned, _ := ctx.Value(pinKey{c.core}).(*Session)
	return pinned
}

// pinKey is the context key of the pinned session, for each client.
type pinKey struct{ *core }

// notSent is the error of an operation whose ctx ended before the request was sent. If
// there was no connection, the error says so, to distinguish a server that is down from
// a slow one.
func (c *Client) notSent(ctx context.Context) error {
	err := notSent(ctx)
	if s, _, _ := c.sessionNow(); s != nil || c.ctx.Err() != nil {
		return err
	}
	return c.withConnectReasons(fmt.Errorf("%w: %w", ErrNotConnected, err))
}

// NotConnected returns nil if there is a connection, or the client is closed. Otherwise
// it returns an error that matches ErrNotConnected and names the reason. Recipes use
// the error when they give up a wait for something other than an operation.
func (e Extension) NotConnected() error {
	if s, _, _ := e.sessionNow(); s != nil || e.ctx.Err() != nil {
		return nil
	}
	return e.withConnectReasons(ErrNotConnected)
}

// withConnectReasons adds the reasons for a missing connection to an error.
func (c *Client) withConnectReasons(err error) error {
	c.mu.Lock()
	attempt := c.attempt
	c.mu.Unlock()
	return c.connectError(err, attempt)
}

// connectError adds to an error the failure of an attempt to connect, the server that
// does not answer now, and the problem with the list of servers.
func (c *Client) connectError(err, attempt error) error {
	var reasons []string
	if address, silence := c.silentServer(); silence > 0 {
		reasons = append(reasons, fmt.Sprintf("%s has not answered for %v", address, silence.Round(time.Millisecond)))
	}
	if attempt != nil {
		reasons = append(reasons, "last attempt: "+attempt.Error())
	}
	if listError := c.serverList.problem(); listError != nil {
		reasons = append(reasons, "list of servers: "+listError.Error())
	}
	if len(reasons) == 0 {
		return err
	}
	return &connectError{err, attempt, strings.Join(reasons, "; ")}
}

// silentServer returns the server of the current attempt, and for how long the server has
// not answered. If a server accepts connections but never answers, a waiting caller may
// give up before any attempt has failed.
func (c *Client) silentServer() (address string, silence time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil {
		return "", 0
	}
	return c.session.server, c.attempts.silence(c.session.server)
}

// refused returns the error of an operation while servers refuse the credentials.
func (c *Client) refused() error {
	c.mu.Lock()
	cause := c.refusal.failing
	c.mu.Unlock()
	if cause == nil { // no longer refused
		return c.withConnectReasons(errRefused)
	}
	return c.connectError(errRefused, cause)
}

// OnError returns a context for operations. Whenever an operation under that context
// tries again after an error, it calls tell with the *OpError that it would have
// returned. A recipe whose users wait for something other than the operation can name
// the last error when they give up. If ctx already carries an OnError function, both
// are called. tell must not block, and several goroutines may call it at the same time.
func (e Extension) OnError(ctx context.Context, tell func(error)) context.Context {
	if outer, ok := ctx.Value(onErrorKey{}).(func(error)); ok {
		inner := tell
		tell = func(err error) { inner(err); outer(err) }
	}
	return context.WithValue(ctx, onErrorKey{}, tell)
}

type onErrorKey struct{}

// lastError is the last error after which an operation was retried.
type lastError struct{ err error }

// note records an error, and reports it to the function of OnError.
func (l *lastError) note(ctx context.Context, op, path string, err error) {
	l.err = err
	if tell, ok := ctx.Value(onErrorKey{}).(func(error)); ok {
		tell(&OpError{op, path, err})
	}
}

// named adds the last error to the error of a wait that ctx has ended.
func (l *lastError) named(ctx context.Context, err error) error {
	if l.err == nil || !reason.IsOfContext(ctx, err) || reason.Is(err, l.err) {
		return err
	}
	return fmt.Errorf("%w (last error: %w)", err, l.err)
}
