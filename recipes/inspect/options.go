package inspect

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/discovery"
)

// Option configures a Walk or a WaitGraph. An option that cannot be used is a
// *framework.ConfigError, and matches zk.ErrBadArguments.
type Option func(*config)

type config struct {
	depth       int
	most        int    // participants of a recipe that are read
	kinds       []Kind // nil for all
	enter       func(path string) bool
	sharedLimit func(semaphore string) string
	codec       discovery.Codec // nil without WithServices
	fault       error           // why an option cannot be used, or nil
}

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

// WithKinds selects recipes that are of one of these kinds, or may be. The walk
// reads the nodes of other locks and semaphores all the same, and skips the data
// of registrations. Unreadable paths are reported in any case. A kind that this
// package does not have cannot be used.
func WithKinds(kinds ...Kind) Option {
	kinds = slices.Clone(kinds)
	return func(c *config) {
		c.kinds = kinds
		if len(kinds) == 0 {
			c.refuse("kinds", len(kinds), "must be at least one")
		}
		for _, kind := range kinds {
			if !kind.isKnown() {
				c.refuse("kind", kind, "must be one of the kinds of this package")
			}
		}
	}
}

// WithFilter leaves out nodes, and all that is below them, for which enter
// returns false. The walk calls enter once for each node below the root that is
// no participant of a lock, before it reads the node, in the goroutine of the
// caller. So enter can also report how far a walk has come.
func WithFilter(enter func(path string) bool) Option {
	return func(c *config) {
		c.enter = enter
		if enter == nil {
			c.refuse("filter", nil, "must not be nil")
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
	return func(c *config) {
		c.sharedLimit = limitOf
		if limitOf == nil {
			c.refuse("shared limits", nil, "must not be nil")
		}
	}
}

// WithServices takes the root of a walk for the base of a registry whose nodes
// have the format of a codec. The nodes of services are Registrations then, also
// those that are not ephemeral. Each has an Instance. A node that is malformed
// has a Problem, too.
//
//	services := inspect.WithServices(discovery.CuratorCodec())
//	for r, err := range inspect.Walk(ctx, client, "/services", services) {
//		if err != nil {
//			return err // the answer is not complete
//		}
//		for _, p := range r.Holders {
//			if p.Instance != nil && p.Problem == "" {
//				fmt.Println(p.Instance.Service, p.Instance.ID, p.Instance.HostPort())
//			}
//		}
//	}
//
// A discovery.Directory is for programs that call the instances.
func WithServices(codec discovery.Codec) Option {
	return func(c *config) {
		c.codec = codec
		if codec == nil {
			c.refuse("codec", nil, "must not be nil")
		} else if _, err := codec.Dir("any"); reason.Is(err, zk.ErrBadArguments) {
			c.fault = err // of an option of the codec, whatever the service
		}
	}
}

func (c *config) refuse(name string, value any, reason string) {
	c.fault = &framework.ConfigError{Name: name, Value: fmt.Sprint(value), Reason: reason}
}

func configOf(opts []Option) config {
	c := config{
		depth: math.MaxInt, most: math.MaxInt,
		enter:       func(string) bool { return true },
		sharedLimit: func(string) string { return "" },
	}
	for _, set := range opts {
		if set == nil {
			c.refuse("option", nil, "must not be nil")
			continue
		}
		set(&c)
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
