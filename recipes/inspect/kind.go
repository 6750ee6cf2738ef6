package inspect

import "github.com/gocurator/curator/recipes/locktrace"

// Kind says what the nodes below a path are for. Kinds of locks and leaders
// have the names that tracers and spans use.
type Kind string

// The kinds.
const (
	Mutex          Kind = locktrace.RecipeMutex
	ReadWriteLock  Kind = locktrace.RecipeReadWriteLock
	Semaphore      Kind = locktrace.RecipeSemaphore
	SemaphoreMutex Kind = locktrace.RecipeSemaphoreMutex // only in MayBe
	LeaderLatch    Kind = locktrace.RecipeLeaderLatch
	LeaderSelector Kind = locktrace.RecipeLeaderSelector // only in MayBe
	Election       Kind = "election"                     // kazoo's; only in MayBe

	// Registrations are ephemeral nodes of no other kind: members of a
	// nodes.Group or of kazoo's Party, persistent nodes, instances of services,
	// members of a double barrier.
	Registrations Kind = "registrations"

	// Queue is a queue of items: Java Curator's DistributedQueue and
	// SimpleDistributedQueue, or kazoo's Queue and LockingQueue.
	Queue Kind = "queue"

	// Unreadable is a path whose children may not be listed. Nothing is known
	// of what is there. It may be a registration, too.
	Unreadable Kind = "unreadable"
)

// isKnown reports whether there is such a kind.
func (k Kind) isKnown() bool {
	switch k {
	case Mutex, ReadWriteLock, Semaphore, SemaphoreMutex, LeaderLatch, LeaderSelector, Election,
		Registrations, Queue, Unreadable:
		return true
	}
	return false
}

// Layout says whose names the nodes have.
type Layout string

// The layouts. This library, Java Curator and go-zookeeper's Lock share
// Curator's.
const (
	Curator Layout = "curator"
	Kazoo   Layout = "kazoo"
)
