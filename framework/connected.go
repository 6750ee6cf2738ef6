package framework

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// WaitConnected waits until the client has a connection and a session. It does
// not observe the connection timeout. It returns an *OpError that matches:
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

// connectedSession returns the present session, or waits for one as long as the
// connection timeout allows. It has none for a caller who is cut off, also if
// there is another connection by now.
func (c *Client) connectedSession(ctx context.Context) (*Session, error) {
	if ctx.Err() == nil {
		s, _, _ := c.sessionNow()
		switch cutOff := c.isCutOff(ctx); {
		case cutOff && s != nil:
			return nil, errReconnected
		case cutOff:
			return nil, c.withConnectReasons(ErrNotConnected)
		case s != nil:
			return s, s.checkPin(ctx)
		}
	}
	timeout := time.NewTimer(c.cfg.connectionTimeout)
	defer timeout.Stop()
	return c.connected(ctx, timeout.C)
}

// connected waits for a connected session until ctx ends, the client is closed,
// or timeout fires.
func (c *Client) connected(ctx context.Context, timeout <-chan time.Time) (*Session, error) {
	for {
		if ctx.Err() != nil {
			return nil, c.notSent(ctx)
		}
		if c.ctx.Err() != nil {
			return nil, ErrClosed
		}
		s, changed, refused := c.sessionNow()
		if s != nil {
			return s, s.checkPin(ctx)
		}
		select {
		case <-refused:
			return nil, c.refused()
		case <-changed:
		case <-ctx.Done():
		case <-c.ctx.Done():
		case <-timeout:
			return nil, c.withConnectReasons(ErrNotConnected)
		}
	}
}

// sessionNow returns the session if it is connected. Else it returns nil, a
// channel that is closed at the next transition, and one that is closed while
// servers refuse our credentials.
func (c *Client) sessionNow() (s *Session, changed, refused <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.Value.State.IsConnected() && !c.closed {
		return c.session, nil, nil
	}
	return nil, c.last.Done(), c.refusal.signal
}

// checkPin returns an error if operations with this context are pinned to
// another session. That session is over: the context ends with it, but not at
// the same moment.
func (s *Session) checkPin(ctx context.Context) error {
	pinned := s.client.pinOf(ctx)
	if pinned == nil || pinned == s {
		return nil
	}
	return pinned.lostPin()
}

// pinOf returns the session that operations with this context are pinned to, or nil.
func (c *Client) pinOf(ctx context.Context) *Session {
	pinned, _ := ctx.Value(pinKey{c.core}).(*Session)
	return pinned
}

// lostPin returns the error of an operation that is pinned to a session that is over. The
// operation's context has the same error, or is about to have it.
func (s *Session) lostPin() error {
	return fmt.Errorf("%w: %w", context.Canceled, context.Cause(s.ctx))
}

// pinKey is the key of the session that a context is pinned to, for each
// client.
type pinKey struct{ *core }

// notSent is the error of an operation whose ctx ended before it had sent
// anything. If there was no connection, the error says so: a server that is
// down must be distinguished from one that is slow.
func (c *Client) notSent(ctx context.Context) error {
	err := notSent(ctx)
	if s, _, _ := c.sessionNow(); s != nil || c.ctx.Err() != nil {
		return err
	}
	return c.withConnectReasons(fmt.Errorf("%w: %w", ErrNotConnected, err))
}

// NotConnected returns nil if there is a connection, or the client is closed.
// Else it returns an error that matches ErrNotConnected and says why, for those
// who wait for something else than an operation and give up.
func (e Extension) NotConnected() error {
	if s, _, _ := e.sessionNow(); s != nil || e.ctx.Err() != nil {
		return nil
	}
	return e.withConnectReasons(ErrNotConnected)
}

// withConnectReasons adds to an error why there is no connection.
func (c *Client) withConnectReasons(err error) error {
	c.mu.Lock()
	attempt := c.attempt
	c.mu.Unlock()
	return c.connectError(err, attempt)
}

// connectError adds to an error how an attempt to connect has failed, which
// server does not answer now, and what is wrong with the list of servers.
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

// silentServer returns the server that is tried now, and for how long it has not
// answered. If a server accepts connections but never answers, a waiting caller may give up
// before any attempt has failed.
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
	if cause == nil { // no longer
		return c.withConnectReasons(errRefused)
	}
	return c.connectError(errRefused, cause)
}
