package grpcresolver

import (
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
)

// errBehind means that there is a connection, and the list is not up to date.
var errBehind = errors.New("ZooKeeper has not sent the list")

// How long a trouble may last before the channel is told of it, if not at once.
const (
	patience = time.Second            // the cause is not known
	calm     = 3 * time.Second / 2    // it has a list: a second may be between two attempts to connect
	oneTry   = 100 * time.Millisecond // one server has not taken us; another one may
)

// How often a channel in trouble looks again: until it is told, and after that. The
// trouble may be over, or have another cause, and nobody tells.
const (
	lookSoon  = 50 * time.Millisecond
	lookLater = time.Second
)

// trouble returns why the list is missing, or may be old. It returns nil if it
// is up to date.
func (s *service) trouble() error {
	if err := s.err(); err != nil {
		return err
	}
	now := s.directory.Snapshot()
	switch {
	case now.Err != nil:
		return now.Err
	case !now.Interrupted && s.hasConfig():
		return nil
	}
	if err := framework.Extend(s.client).NotConnected(); err != nil {
		return fmt.Errorf("ZooKeeper: %w", err)
	}
	return errBehind
}

// isConnecting reports whether there is no connection yet, and whether an attempt
// to make one has failed. A server that does not answer yet is no failure.
func isConnecting(trouble error) (connecting, failed bool) {
	var why interface{ Unwrap() []error } // how the wait ended, and why the last attempt failed
	if errors.As(trouble, &why) {         //nolint:forbidigo // it had no context
		failed = len(why.Unwrap()) > 1
	}
	return errors.Is(trouble, framework.ErrNotConnected), failed //nolint:forbidigo // it had no context
}

// patienceWith returns how long a trouble may last before the channel is told.
func (c *channel) patienceWith(trouble error) time.Duration {
	connecting, failed := isConnecting(trouble)
	switch {
	case len(c.told) > 0:
		return calm
	case trouble == errBehind, connecting && !failed: //nolint:errorlint // it is that very one
		return patience
	case connecting:
		return oneTry
	}
	return 0
}

// reportTrouble tells the channel of trouble. A channel that has a list goes on
// with it. It returns when to look again.
func (c *channel) reportTrouble(trouble error, now time.Time) (again time.Time) {
	if c.since.IsZero() {
		c.since = now
	}
	if due := c.since.Add(c.patienceWith(trouble)); now.Before(due) {
		return now.Add(min(lookSoon, due.Sub(now)))
	}
	c.hasTrouble = true
	old := ""
	if c.told != nil {
		old = fmt.Sprintf(", with a list of %d that may be old", len(c.told))
	}
	c.report(fmt.Errorf("%w (since %s%s)", trouble, c.since.Format(time.TimeOnly), old))
	return now.Add(lookLater)
}
