package seat

import (
	"log/slog"
	"maps"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/internal/semconv"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/order"
)

// recipesByKind names the recipes whose contenders have these names.
var recipesByKind = map[string]string{
	"lock-":    "mutex or leader selector",
	"latch-":   "leader latch",
	"__READ__": "read/write lock",
	"__WRIT__": "read/write lock",
	"lease-":   "semaphore",
}

var eventTwoRecipes = event.Kind{Warn: semconv.TwoRecipes}

// warnOfOthers warns once of contenders of another recipe at the lock's path.
// Neither recipe waits for the other, so that both hold, or lead: a trap in an
// update that goes from one recipe to another. A semaphore's nodes are one level
// further down, in folders, so that only a semaphore lists them.
func (l *Lock) warnOfOthers(names []string) {
	if l.warned.Load() || !l.hasOthers(names) {
		return
	}
	of := &l.cfg
	others := slices.DeleteFunc(slices.Collect(maps.Keys(recipesByKind)), func(kind string) bool {
		return slices.Contains(of.Kinds, kind)
	})
	for other := range order.InListing(names, others...).Each {
		if l.warned.CompareAndSwap(false, true) {
			event.OfLock(of.Client, of.Path).Emit(eventTwoRecipes, nil,
				slog.String(semconv.LockRecipe, recipesByKind[of.Kind]),
				slog.String(semconv.Cause, "a contender of another recipe: "+recipesByKind[other.Kind]),
				event.Of(of.Client, znode.Join(of.Path, other.Node)).Path())
		}
		return
	}
}

// hasOthers reports whether there are names that are not the recipe's own. Usually
// there are none.
func (l *Lock) hasOthers(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return !order.IsNode(name, l.cfg.Kinds...) })
}

var eventUnowned = event.Kind{Warn: "no session owns this node; only deleting it frees the lock"}

// noteOwner notes who owns a node ahead. A node that no session owns stays until
// somebody deletes it: a tool has made it, or a backup was restored. A contender that
// waits says so in the log, once for each lock object.
func (c *contender) noteOwner(node string, stat *zk.Stat) {
	c.seen.noteOwner(node, stat.EphemeralOwner)
	if stat.EphemeralOwner != 0 || !c.attempt.Wait || !c.lock.warnedUnowned.CompareAndSwap(false, true) {
		return
	}
	of := &c.lock.cfg
	event.OfLock(of.Client, of.Path).Emit(eventUnowned, nil, event.Of(of.Client, znode.Join(of.Path, node)).Path())
}
