package inspect

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gocurator/curator/framework"
)

// Option configures a Walk or a WaitGraph. An option that cannot be used is a
// *framework.ConfigError, and matches zk.ErrBadArguments.
type Option func(*config)

type config struct {
	depth       int
	requests    int
	most        int    // participants of a recipe that are read
	kinds       []Kind // nil for all
	enter       func(path string) bool
	sharedLimit func(semaphore string) string
	progress    func(Progress)
	pause       time.Duration
	fault       error // why an option cannot be used, or nil
}

const (
	defaultRequests = 32
	maxRequests     = 512
	defaultPause    = time.Second
)

// WithDepth sets how many levels below the root are looked at: with 0, only
// recipes at the root itself. The default is all of them.
func WithDepth(levels int) Option {
	return func(c *config) {
		c.depth = levels
		if levels < 0 {
			c.refuse("depth", levels, "must not be negative")
		}
	}
}

// WithKinds selects recipes that are of one of these kinds, or may be. Nodes of
// other recipes are listed, but not read. Unreadable paths are reported in any
// case. A kind that this package does not have cannot be used.
func WithKinds(kinds ...Kind) Option {
	kinds = slices.Clone(kinds)
	return func(c *config) {
		c.kinds = kinds
		if len(kinds) == 0 {
			c.refuse("kinds", len(kinds), "must be at least one")
		}
		for _, kind := range kinds {
			if !kind.isKnown() {
				c.fault = &framework.ConfigError{Name: "kind", Value: string(kind), Reason: "must be one of the kinds of this package"}
			}
		}
	}
}

// WithFilter leaves out nodes, and all that is below them, for which enter
// returns false. The root is never left out. It is called by the goroutine of
// the caller.
func WithFilter(enter func(path string) bool) Option {
	return func(c *config) { c.enter = enter }
}

// WithMaxRequests sets how many requests are under way at once: from 1 to 512.
// The default is 32. A connection carries 768 for all that use the client.
func WithMaxRequests(n int) Option {
	return func(c *config) {
		c.requests = n
		if n < 1 || n > maxRequests {
			c.refuse("requests", n, fmt.Sprintf("must be from 1 to %d", maxRequests))
		}
	}
}

// WithMaxParticipants sets how many participants of each recipe are read, from
// the head of its queue. The others are only counted. The default is all of
// them. WaitGraph reads all.
func WithMaxParticipants(n int) Option {
	return func(c *config) {
		c.most = n
		if n < 1 {
			c.refuse("participants", n, "must be at least 1")
		}
	}
}

// WithSharedLimits tells where the limits of semaphores are kept, since a
// semaphore does not say: the function gets the path of a semaphore, and
// returns the path that was given to locks.SharedLimit or to Java's
// SharedCount, or "" if there is none. It may be called by several goroutines
// at once.
func WithSharedLimits(limitOf func(semaphore string) string) Option {
	return func(c *config) { c.sharedLimit = limitOf }
}

// WithPause sets the time between the two looks of WaitGraph. The default is a
// second. After a longer pause, fewer cycles are found that would have come
// apart by themselves.
func WithPause(d time.Duration) Option {
	return func(c *config) {
		c.pause = d
		if d <= 0 {
			c.fault = &framework.ConfigError{Name: "pause", Value: d.String(), Reason: "must be positive"}
		}
	}
}

// Progress is how far a walk has come.
type Progress struct {
	Nodes   int    // nodes visited that may have something below them
	Recipes int    // recipes found and selected
	Path    string // the node visited last
}

// WithProgress has f called after each node that was visited, by the goroutine
// of the caller.
func WithProgress(f func(Progress)) Option {
	return func(c *config) { c.progress = f }
}

func (c *config) refuse(name string, value int, reason string) {
	c.fault = &framework.ConfigError{Name: name, Value: fmt.Sprint(value), Reason: reason}
}

func configOf(opts []Option) config {
	c := config{
		depth: math.MaxInt, requests: defaultRequests, most: math.MaxInt,
		enter:       func(string) bool { return true },
		sharedLimit: func(string) string { return "" },
		progress:    func(Progress) {},
		pause:       defaultPause,
	}
	for _, set := range opts {
		if set == nil {
			c.fault = &framework.ConfigError{Name: "option", Value: "nil", Reason: "must not be nil"}
			continue
		}
		set(&c)
	}
	if c.enter == nil || c.sharedLimit == nil || c.progress == nil {
		c.fault = &framework.ConfigError{Name: "function of an option", Value: "nil", Reason: "must not be nil"}
	}
	return c
}

// wants reports whether a recipe is selected.
func (c *config) wants(kind Kind, mayBe ...Kind) bool {
	if c.kinds == nil || kind == Unreadable || slices.Contains(c.kinds, kind) {
		return true
	}
	return slices.ContainsFunc(mayBe, func(k Kind) bool { return slices.Contains(c.kinds, k) })
}
