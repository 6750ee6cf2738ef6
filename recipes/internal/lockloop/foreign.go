package lockloop

import (
	"context"
	"log/slog"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
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
	leaseKind:  "semaphore",
}

var eventTwoRecipes = event.Kind{Warn: semconv.TwoRecipes}

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
		c.loop.warnOf(other.Kind, other.Node)
		return
	}
	c.lookForLease(names)
}

// hasOthers reports whether there are names that are not the recipe's own. Usually
// there are none.
func (l *Loop) hasOthers(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return !IsNode(name, l.nodes.Kinds...) })
}

// warnOf warns of a node of another recipe, whose path is below the lock's.
func (l *Loop) warnOf(kind, node string) {
	if !l.warned.CompareAndSwap(false, true) {
		return
	}
	of := l.nodes
	event.OfLock(of.Client, of.Path).Emit(eventTwoRecipes, nil,
		slog.String(semconv.LockRecipe, recipesByKind[of.Kind]),
		slog.String(semconv.Cause, "a contender of another recipe: "+recipesByKind[kind]),
		event.Of(of.Client, znode.Join(of.Path, node)).Path())
}

var eventUnowned = event.Kind{Warn: "no session owns this node; only deleting it frees the lock"}

// noteOwner notes who owns a node ahead. A node that no session owns stays until
// somebody deletes it: a tool has made it, or a backup was restored. A contender that
// waits says so in the log, once for each lock object.
func (c *contender) noteOwner(node string, stat *zk.Stat) {
	c.seen.noteOwner(node, stat.EphemeralOwner)
	if stat.EphemeralOwner != 0 || !c.attempt.Wait || !c.loop.warnedUnowned.CompareAndSwap(false, true) {
		return
	}
	of := c.loop.nodes
	event.OfLock(of.Client, of.Path).Emit(eventUnowned, nil, event.Of(of.Client, znode.Join(of.Path, node)).Path())
}

// The children of a semaphore's path are not its contenders: its leases are the
// children of one of them, and the nodes at its gate of the other.
const (
	leasesDir = "leases"
	gateDir   = "locks"
	leaseKind = "lease-"
)

// lookForLease warns of a lease of a semaphore at the lock's path. A semaphore that
// nobody uses any more may have left its folders, so that only a request tells. A
// contender makes one, and only where there are such folders, and nobody is making
// another one for the lock.
//
// The contender does not wait for the answer, which is for the log alone. Its
// listing would be old by then, and it may be about to hold the lock by that. Close
// of the client does not wait for the hooks that are told of the request.
func (c *contender) lookForLease(names []string) {
	if c.hasLookedForLease || !slices.Contains(names, leasesDir) || !slices.Contains(names, gateDir) {
		return
	}
	c.hasLookedForLease = true
	l := c.loop
	if !l.looking.CompareAndSwap(false, true) {
		return
	}
	client := framework.Extend(l.nodes.Client)
	client.Go(func(ctx context.Context) {
		defer l.looking.Store(false)
		if client.HasHooks() {
			teller := client.NewTeller()
			defer teller.Wait(ctx)
			ctx = teller.Context(ctx)
		}
		leases, _, _ := l.nodes.Client.Children(ctx, znode.Join(l.nodes.Path, leasesDir))
		for lease := range Entries(leases, leaseKind) {
			l.warnOf(leaseKind, znode.Join(leasesDir, lease.Node))
			return
		}
	})
}

func kindsOfRecipes() []string { return []string{"lock-", "latch-", "__READ__", "__WRIT__", leaseKind} }
