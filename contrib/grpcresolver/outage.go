package grpcresolver

import (
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
)

// errBehind means that there is a connection, but the list is not up to date.
var errBehind = errors.New("ZooKeeper has not sent the list")

// How long an outage may last before the channel receives an error.
const (
	patience = time.Second            // the cause is unknown
	calm     = 3 * time.Second / 2    // the channel has a list: attempts to connect may be a second apart
	oneTry   = 100 * time.Millisecond // one server has refused the client; another server may accept it
)

// How often a channel checks an outage: before and after it has received the
// error. No event reports the end of the outage or a new cause.
const (
	lookSoon  = 50 * time.Millisecond
	lookLater = time.Second
)

// outage returns why the list is missing or may be old, or nil if the list is up to date.
func (s *service) outage() error {
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

// isConnecting reports whether there is no connection yet, and whether an attempt to connect
// has failed. An attempt that a server has not answered yet has not failed.
func isConnecting(outage error) (connecting, failed bool) {
	var why interface{ Unwrap() []error } // the end of the wait, and the error of the last attempt
	if errors.As(outage, &why) {          //nolint:forbidigo // the error comes from no context
		failed = len(why.Unwrap()) > 1
	}
	return errors.Is(outage, framework.ErrNotConnected), failed //nolint:forbidigo // the error comes from no context
}

// patienceWith returns how long an outage may last before the channel receives an error.
func (c *channel) patienceWith(outage error) time.Duration {
	connecting, failed := isConnecting(outage)
	switch {
	case len(c.told) > 0:
		return calm
	case outage == errBehind, connecting && !failed: //nolint:errorlint // outage returns this very value
		return patience
	case connecting:
		return oneTry
	}
	return 0
}

// reportOutage sends the channel an error if the outage has lasted long enough. A channel with a
// list keeps the list. reportOutage returns the time of the next check.
func (c *channel) reportOutage(outage error, now time.Time) (again time.Time) {
	if c.since.IsZero() {
		c.since = now
	}
	if due := c.since.Add(c.patienceWith(outage)); now.Before(due) {
		return now.Add(min(lookSoon, due.Sub(now)))
	}
	c.hasOutage = true
	old := ""
	if c.told != nil {
		old = fmt.Sprintf(", with a list of %d that may be old", len(c.told))
	}
	c.report(fmt.Errorf("%w (since %s%s)", outage, c.since.Format(time.TimeOnly), old))
	return now.Add(lookLater)
}
