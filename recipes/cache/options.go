package cache

import (
	"fmt"
	"math"
	"strings"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/znode"
)

// Option configures a Cache: which nodes the cache keeps ([WithDepth], [WithFilter]),
// whether it keeps their data ([WithoutData]), and how many nodes it reads at the same time
// ([WithConcurrency]).
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

// scope says which nodes belong to a cache.
type scope struct {
	root   string
	depth  int
	filter func(path string) bool // never nil
}

// depthOf returns how many levels a path is below the root, or false if the path is not
// below the root.
func (s scope) depthOf(path string) (int, bool) {
	if path == s.root {
		return 0, true
	}
	rest, below := strings.CutPrefix(path, strings.TrimSuffix(s.root, "/")+"/")
	if !below || rest == "" {
		return 0, false
	}
	return strings.Count(rest, "/") + 1, true
}

// has reports whether a path belongs to the cache: the path is not too deep, and the
// filter keeps it and all its parents up to the root.
func (s scope) has(path string) bool {
	depth, ok := s.depthOf(path)
	if !ok || depth > s.depth {
		return false
	}
	for path != s.root {
		if !s.filter(path) {
			return false
		}
		path, _ = znode.Split(path)
	}
	return true
}

// hasChildren reports whether the children of a path may belong to the cache.
func (s scope) hasChildren(path string) bool {
	depth, ok := s.depthOf(path)
	return ok && depth < s.depth
}
