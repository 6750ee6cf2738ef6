package lockloop

import (
	"log/slog"
	"slices"

	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/event"
)

// recipesByKind names the recipes whose contenders have these names.
var recipesByKind = map[string]string{
	"lock-":    "mutex or leader selector",
	"latch-":   "leader latch",
	"__READ__": "read/write lock",
	"__WRIT__": "read/write lock",
	"lease-":   "semaphore",
}

var eventTwoRecipes = event.Kind{Warn: "two recipes use one path, and neither waits for the other"}

// warnOfOthers warns once of contenders of another recipe at the lock's path.
// Neither recipe waits for the other, so that both hold, or lead: a trap in an
// update that goes from one recipe to another.
func (c *contender) warnOfOthers(names []string) {
	if c.loop.warned.Load() || !c.loop.hasOthers(names) {
		return
	}
	of := c.loop.nodes
	others := slices.DeleteFunc(kindsOfRecipes(), func(kind string) bool {
		return kind == of.Kind || slices.Contains(of.Kinds, kind)
	})
	for other := range InListing(names, others...).each {
		if !c.loop.warned.CompareAndSwap(false, true) {
			return
		}
		event.OfLock(of.Client, of.Path).Emit(eventTwoRecipes, nil,
			slog.String(semconv.LockRecipe, recipesByKind[of.Kind]),
			slog.String(semconv.Cause, "a contender of another recipe: "+recipesByKind[other.Kind]),
			event.Of(of.Client, znode.Join(of.Path, other.Node)).Path())
		return
	}
}

// hasOthers reports whether there are names that are not the recipe's own. Usually
// there are none.
func (l *Loop) hasOthers(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return !IsNode(name, l.nodes.Kinds...) })
}

func kindsOfRecipes() []string { return []string{"lock-", "latch-", "__READ__", "__WRIT__", "lease-"} }
