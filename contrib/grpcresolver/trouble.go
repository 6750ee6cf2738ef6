package grpcresolver

import (
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
)

// errBehind means that there is a connection, and the list is not up to date.
var errBehind = errors.New("ZooKeeper has not sent the list")

// patience is how long a trouble may last before the channel is told of it, if
// it has a list, or if the cause is not known.
const patience = time.Second

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

// isVague reports whether nothing is known of the cause yet.
func isVague(trouble error) bool {
	return trouble == errBehind || errors.Unwrap(trouble) == framework.ErrNotConnected //nolint:errorlint // with a cause, it is another error
}

// reportTrouble tells the channel of trouble. A channel that has a list goes on
// with it.
func (c *channel) reportTrouble(trouble error, now time.Time) {
	if c.since.IsZero() {
		c.since = now
	}
	if (len(c.told) > 0 || isVague(trouble)) && now.Sub(c.since) < patience {
		return
	}
	if isVague(trouble) && now.Sub(c.service.opened) < patience {
		return // what was wrong with the one before is told
	}
	c.hasTrouble = true
	old := ""
	if c.told != nil {
		old = fmt.Sprintf(", with a list of %d that may be old", len(c.told))
	}
	c.report(fmt.Errorf("%w (since %s%s)", trouble, c.since.Format(time.TimeOnly), old))
}
