package discovery

import (
	"time"
)

// DirectoryOption configures a Directory.
type DirectoryOption func(*directoryConfig)

type directoryConfig struct {
	grace   time.Duration
	percent int           // the guard's part of a service's instances; 0 if there is no guard
	keep    time.Duration // the guard's time
}

// WithRemovalGrace sets for how long an instance stays whose node is gone. The
// default is a second, and 0 means that it goes at once, or at the end of an
// interruption of the directory.
//
// If the node comes back meanwhile, with the same ID, address and ports, nothing
// has happened. Java Curator's registrants delete and create their nodes each
// time that a connection was interrupted, which would empty the directory of all
// its readers for a moment. An instance that was seen to drain, or whose node
// became one that cannot be decoded, goes as with 0. While the directory
// is interrupted, the time stands still: behind an outage, registrants need a moment
// as well.
func WithRemovalGrace(d time.Duration) DirectoryOption {
	return func(c *directoryConfig) { c.grace = d }
}

// WithLossGuard keeps instances that vanish together. If more than percent of a
// service's instances are gone when the removal grace of one of them ends, those
// that are gone stay until they have been away for the time keep, and are
// Suspect. While the directory is interrupted, that time stands still. The guard
// is for clients of which most can still be reached, because it was ZooKeeper
// that has lost them. The log has a line, and Snapshot.Suspects says how many
// there are. There is no guard by default: clients may be sent to instances that
// are gone.
func WithLossGuard(percent int, keep time.Duration) DirectoryOption {
	return func(c *directoryConfig) {
		c.percent, c.keep = percent, keep
		if percent == 0 {
			c.percent = -1 // not as if there were none
		}
	}
}

func directoryOf(opts []DirectoryOption) (directoryConfig, error) {
	c := directoryConfig{grace: time.Second}
	err := applyAll(&c, opts)
	switch {
	case err != nil:
		return c, err
	case c.grace < 0:
		return c, invalid("WithRemovalGrace", c.grace, "must not be negative")
	case c.percent < 0 || c.percent >= 100:
		return c, invalid("WithLossGuard", c.percent, "must be a part of 100, from 1 to 99")
	case c.percent > 0 && (c.keep <= c.grace || c.grace == 0):
		return c, invalid("WithLossGuard", c.keep, "must be longer than the removal grace, which must not be 0")
	}
	return c, nil
}
