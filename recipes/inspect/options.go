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

// Option configures a Walk or a WaitGraph: where to look ([WithDepth], [WithFilter]), for
// which recipes ([WithKinds]), and what to read of them ([WithMaxParticipants],
// [WithSharedLimits], [WithServices]). If an option cannot be used, the error is a
// *framework.ConfigError, which matches zk.ErrBadArguments.
type Option func(*config)

type config struct {
	depth       int
	most        int    // how many participants of a recipe are read
	kinds       []Kind // nil for all
	enter       func(path string) bool
	sharedLimit func(semaphore string) string
	codec       discovery.Codec // nil without WithServices
	fault       error           // why an option cannot be used, or nil
}

// WithDepth sets how many levels below the root the walk visits: with 0, only recipes
// at the root itself. By default, the walk visits all levels.
func WithDepth(levels int) Option {
	return func(c *config) {
		c.depth = levels
		if levels < 0 {
			c.refuse("depth", levels, "must not be negative")
		}
	}
}

// WithKinds selects recipes that are, or may be, of one of these kinds. The walk still
// reads the nodes of other locks and semaphores, but skips the data of registrations.
// Walk always returns unreadable paths. An unknown kind is an error.
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

// WithFilter omits nodes for which enter returns false, with everything below them. The
// walk calls enter once for each node below the root that is not a participant of a
// lock, before it reads the node, in the goroutine of the caller. So enter can also
// report progress.
func WithFilter(enter func(path string) bool) Option {
	return func(c *config) {
		c.enter = enter
		if enter == nil {
			c.refuse("filter", nil, "must not be nil")
		}
	}
}

// WithMaxParticipants sets how many participants of each recipe the walk reads, from
// the head of its queue. The walk only counts the rest. By default, the walk reads all
// participants. WaitGraph always reads all.
func WithMaxParticipants(n int) Option {
	return func(c *config) {
		c.most = n
		if n < 1 {
			c.refuse("participants", n, "must be at least 1")
		}
	}
}

// WithSharedLimits tells the walk where to find the limits of semaphores: the function
// gets the path of a semaphore, and returns the path that was given to
// locks.SharedLimit or to Java's SharedCount, or "" if there is none. The walk may call
// the function from several goroutines at once.
func WithSharedLimits(limitOf func(semaphore string) string) Option {
	return func(c *config) {
		c.sharedLimit = limitOf
		if limitOf == nil {
			c.refuse("shared limits", nil, "must not be nil")
		}
	}
}

// WithServices treats the root of a walk as the base of a registry whose nodes have the
// format of a codec. The nodes of services are then Registrations, even if they are not
// ephemeral, and each has an Instance. A malformed node also has a Problem.
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
// To call the instances, use a discovery.Directory.
func WithServices(codec discovery.Codec) Option {
	return func(c *config) {
		c.codec = codec
		if codec == nil {
			c.refuse("codec", nil, "must not be nil")
		} else if _, err := codec.Dir("any"); reason.Is(err, zk.ErrBadArguments) {
			c.fault = err // the codec's own error, for any service
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
