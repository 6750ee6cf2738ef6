package locks_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

var lingeringSeeds = recipetest.SeedFlags("lingering", 20)

// places is how many may work at once, where several may: as many as there are
// contenders. Who must be alone takes all of them.
const places = 6

// Holders take their time to stop, and machines come back when their sessions
// are just lost. If each work stops within the safety margin, no two overlap,
// whatever the lock.
//
// Promise: The node of a lost lock stays until its last release.
// Promise: Work that stops within the safety margin never overlaps the next holder's work.
func TestWorkOfHoldersDoesNotOverlap(t *testing.T) {
	t.Parallel()
	held := func(lock func(c *framework.Client) locks.Locker) recipetest.Contend {
		return func(ctx context.Context, c *framework.Client, r *recipetest.Room) {
			l := lock(c)
			for ctx.Err() == nil {
				if lease, err := l.Acquire(ctx); err == nil {
					r.Work(lease.Context(), places)
					lease.Release(ctx)
				}
			}
		}
	}
	for name, contend := range map[string]recipetest.Contend{
		"mutex": held(func(c *framework.Client) locks.Locker { return locks.NewInterProcessMutex(c, "/l") }),
		"hand-over": held(mutexOfEach(func(c *framework.Client) locks.Locker {
			return locks.NewInterProcessMutex(c, "/l", handingOver(5, time.Minute))
		})),
		"cached": held(mutexOfEach(func(c *framework.Client) locks.Locker {
			return locks.NewInterProcessMutex(c, "/l", idleFor(5, time.Minute))
		})),
		"minimum hold": held(func(c *framework.Client) locks.Locker {
			return locks.NewInterProcessMutex(c, "/l", heldFor(5*time.Second))
		}),
		"semaphore mutex": held(func(c *framework.Client) locks.Locker { return locks.NewInterProcessSemaphoreMutex(c, "/l") }),
		"multi-lock": held(func(c *framework.Client) locks.Locker {
			return locks.NewInterProcessMultiLock(locks.SortedMutexes(c, []string{"/l/a", "/l/b"})...)
		}),
		"semaphore":       takeLeases(locks.Limit(places)),
		"shared limit":    takeLeases(locks.SharedLimit("/limit", places)),
		"read/write lock": readAndWrite,
		"Do": func(ctx context.Context, c *framework.Client, r *recipetest.Room) {
			for ctx.Err() == nil {
				locks.NewInterProcessMutex(c, "/l").Do(ctx, func(ctx context.Context) error {
					r.Work(ctx, places)
					return nil
				})
			}
		},
	} {
		t.Run(name, func(t *testing.T) { recipetest.StopsWithinTheMargin(t, lingeringSeeds, places, contend) })
	}
}

// mutexOfEach makes one lock for all goroutines of a client.
func mutexOfEach(lock func(c *framework.Client) locks.Locker) func(c *framework.Client) locks.Locker {
	var made sync.Map
	return func(c *framework.Client) locks.Locker {
		l, _ := made.LoadOrStore(c, lock(c))
		return l.(locks.Locker)
	}
}

// takeLeases takes one to three leases.
func takeLeases(limit locks.SemaphoreLimit) recipetest.Contend {
	return func(ctx context.Context, c *framework.Client, r *recipetest.Room) {
		s := locks.NewInterProcessSemaphore(c, "/l", limit)
		for n := 1; ctx.Err() == nil; n = n%3 + 1 {
			if lease, err := s.AcquireN(ctx, n); err == nil {
				r.Work(lease.Context(), n)
				lease.Release(ctx)
			}
		}
	}
}

// readAndWrite reads, writes, and becomes a reader after it has written, in
// turn.
func readAndWrite(ctx context.Context, c *framework.Client, r *recipetest.Room) {
	rw := locks.NewInterProcessReadWriteLock(c, "/l")
	read := func(ctx context.Context) {
		if lease, err := rw.ReadLock().Acquire(ctx); err == nil {
			r.Work(lease.Context(), 1)
			lease.Release(ctx)
		}
	}
	for round := 0; ctx.Err() == nil; round++ {
		if round%2 == 0 {
			read(ctx)
			continue
		}
		lease, err := rw.WriteLock().Acquire(ctx)
		if err != nil {
			continue
		}
		r.Work(lease.Context(), places)
		if round%4 == 1 {
			read(lease.Context())
		}
		lease.Release(ctx)
	}
}
