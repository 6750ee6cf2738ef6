package discovery

import (
	"time"
)

// DirectoryOption configures a Directory.
type DirectoryOption func(*directoryConfig)

type directoryConfig struct{ grace time.Duration }

// WithRemovalGrace sets for how long an instance stays whose node is gone. The
// default is a second, and 0 means that it goes at once, or at the end of an
// interruption of the directory.
//
// If the node comes back meanwhile, with the same ID, address and ports, nothing
// has happened. Java Curator's registrants delete and create their nodes each
// time that a connection was interrupted, which would empty the directory of all
// its readers for a moment. An instance that was seen to drain, or whose node
// became one that cannot be decoded, goes as with 0. After an interruption of the
// directory, the time begins again: registrants need a moment as well.
func WithRemovalGrace(d time.Duration) DirectoryOption {
	return func(c *directoryConfig) { c.grace = d }
}

func directoryOf(opts []DirectoryOption) (directoryConfig, error) {
	c := directoryConfig{grace: time.Second}
	err := applyAll(&c, opts)
	if err == nil && c.grace < 0 {
		err = invalid("WithRemovalGrace", c.grace, "must not be negative")
	}
	return c, err
}
