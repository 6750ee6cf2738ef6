package cache

import (
	"fmt"
	"math"

	"github.com/gocurator/curator/framework"
)

// Option configures a Cache.
type Option func(*config)

type config struct {
	depth   int // how many levels below the root the cache keeps
	filter  func(path string) bool
	noData  bool
	pending int
	once    bool // Read makes the cache
}

// WithDepth leaves out nodes that are more than n levels below the root. With 0, the
// cache keeps the root alone, as Curator's NodeCache does; with 1, also the root's
// children, as PathChildrenCache does. The default is the whole tree.
func WithDepth(n int) Option {
	return func(c *config) { c.depth = n }
}

// WithFilter leaves out the nodes for which keep returns false, and everything below
// them. The cache calls keep with the path of a node on the cache's goroutine, so keep
// must not block. The root is always kept.
func WithFilter(keep func(path string) bool) Option {
	return func(c *config) { c.filter = keep }
}

// WithoutData keeps no data of nodes. The nodes have their Stat. The cache sends no
// more requests than it would with the data. A request for a single node asks for its
// Stat alone. A request for many nodes returns their data, which the cache drops.
func WithoutData() Option {
	return func(c *config) { c.noData = true }
}

// WithConcurrency sets how many nodes the cache reads at the same time, whether in one
// request or in many. The default is 64.
func WithConcurrency(n int) Option {
	return func(c *config) { c.pending = n }
}

func configured(opts []Option) (config, error) {
	cfg := config{depth: unlimited, filter: func(string) bool { return true }, pending: 64}
	for _, opt := range opts {
		if opt == nil {
			return cfg, bad("option", "nil", "must not be nil")
		}
		opt(&cfg)
	}
	switch {
	case cfg.depth < 0:
		return cfg, bad("WithDepth", cfg.depth, "must not be negative")
	case cfg.filter == nil:
		return cfg, bad("WithFilter", "nil", "must not be nil")
	case cfg.pending < 1:
		return cfg, bad("WithConcurrency", cfg.pending, "must be positive")
	}
	return cfg, nil
}

// unlimited is deeper than any path.
const unlimited = math.MaxInt

func bad(name string, value any, reason string) error {
	return &framework.ConfigError{Name: name, Value: fmt.Sprint(value), Reason: reason}
}
