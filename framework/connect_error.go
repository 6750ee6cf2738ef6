package framework

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/internal/reason"
)

// withConnectReasons adds to an error why there is no connection.
func (c *Client) withConnectReasons(err error) error {
	c.mu.Lock()
	attempt := c.attempt
	c.mu.Unlock()
	return c.connectError(err, attempt)
}

// silentServer returns the server that is tried now, and for how long it has not
// answered. A server may accept connections, and never answer: no attempt has
// failed then before the first of those who wait gives up.
func (c *Client) silentServer() (address string, silence time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil {
		return "", 0
	}
	return c.session.server, c.attempts.silence(c.session.server)
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

// connectError is the end of a wait for a connection, with the reasons for that
// as far as they are known. They may be old.
type connectError struct {
	ended   error
	attempt error // why the last attempt to connect failed, or nil
	reasons string
}

func (e *connectError) Error() string { return e.ended.Error() + " (" + e.reasons + ")" }

// Unwrap returns how the wait ended, and then why there was no connection.
func (e *connectError) Unwrap() []error {
	if e.attempt == nil {
		return []error{e.ended}
	}
	return []error{e.ended, reason.Foreign(attemptError{e.attempt})}
}

// attemptError lets errors.Is and errors.As find in an operation's error why an
// attempt to connect failed, such as syscall.ECONNREFUSED. It hides every error
// that would say something about the operation. Above all, a dial that took too
// long matches context.DeadlineExceeded, and that was not the caller's
// deadline.
type attemptError struct{ err error }

func (e attemptError) Error() string { return e.err.Error() }

// Is implements errors.Is, instead of Unwrap.
//
//nolint:forbidigo // It answers users. The client itself does not look here.
func (e attemptError) Is(target error) bool {
	for _, class := range errorClasses {
		if errors.Is(target, class.err) {
			return false
		}
	}
	return errors.Is(e.err, target)
}

// As implements errors.As, instead of Unwrap.
//
//nolint:forbidigo // It answers users. The client itself does not look here.
func (e attemptError) As(target any) bool {
	if _, isAnswer := target.(**ServerError); isAnswer {
		return false
	}
	return errors.As(e.err, target)
}
