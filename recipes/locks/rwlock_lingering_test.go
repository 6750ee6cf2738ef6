package locks_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

var crowdSeeds = recipetest.SeedFlags("crowd", 20)

// Goroutines of several machines read, write, become readers after they have
// written, only try, give up, and ask others for the lock, with objects that
// have different options. Meanwhile they lose their sessions. If each work stops
// within the safety margin, no writer's work overlaps with another's, and nobody
// waits for ever.
//
// Promise: A writer excludes all others, and readers share the lock.
func TestWorkOfCrowdsOfReadersAndWritersDoesNotOverlap(t *testing.T) {
	t.Parallel()
	const crowd = 4                  // goroutines
	const everywhere = 3 * 2 * crowd // of three machines, which run two of these crowds
	var took [kindsOfUse]atomic.Int32
	recipetest.StopsWithinTheMargin(t, crowdSeeds, everywhere, func(ctx context.Context, c *framework.Client, r *recipetest.Room) {
		var all sync.WaitGroup
		for i := range uint64(crowd) {
			all.Go(func() {
				for ctx.Err() == nil {
					random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), i))
					time.Sleep(time.Duration(random.Int64N(int64(3 * time.Minute)))) // others may only try
					u := user{t: t, client: c, room: r, everywhere: everywhere, random: random}
					if how := random.IntN(kindsOfUse); u.use(ctx, how) {
						took[how].Add(1)
					}
				}
			})
		}
		all.Wait()
	})
	t.Cleanup(func() {
		for how := range took {
			n := took[how].Load()
			t.Log("way", how, "led to the lock", n, "times")
			mayFail := how == toTryToRead || how == toTryToWrite // there are nearly always others
			if n == 0 && !mayFail && crowdSeeds.All() {
				t.Error("nobody got the lock this way")
			}
		}
	})
}

// The ways to use a read/write lock.
const (
	toRead = iota
	toWrite
	toReadOrGiveUp
	toWriteOrGiveUp
	toTryToRead
	toTryToWrite
	toDowngrade
	toReadUntilAsked
	kindsOfUse
)

// user uses a read/write lock once.
type user struct {
	t          *testing.T
	client     *framework.Client
	room       *recipetest.Room
	everywhere int // the places that a writer takes
	random     *rand.Rand
}

// use reports whether the user got the lock.
func (u *user) use(ctx context.Context, how int) bool {
	var opts []locks.ReadWriteOption
	if how == toReadUntilAsked {
		opts = append(opts, locks.WithRevocation())
	}
	rw := locks.NewInterProcessReadWriteLock(u.client, "/l", opts...)
	lock, places := locks.Locker(rw.ReadLock()), 1
	if how == toWrite || how == toWriteOrGiveUp || how == toTryToWrite || how == toDowngrade {
		lock, places = rw.WriteLock(), u.everywhere
	}
	lease := u.take(ctx, lock, how)
	if lease == nil {
		return false
	}
	if how == toReadUntilAsked {
		locks.Revoke(ctx, u.client, lease.Path())
	}
	u.room.Work(lease.Context(), places)
	if how == toDowngrade {
		if reader, err := rw.ReadLock().Acquire(lease.Context()); err == nil {
			released := make(chan struct{})
			go func() { // the release may take longer than the reader's session
				defer close(released)
				lease.Release(ctx)
			}()
			u.room.Work(reader.Context(), 1)
			reader.Release(ctx)
			<-released
			return true
		}
	}
	lease.Release(ctx)
	return true
}

// take acquires a lock, or returns nil. Who has patience gets it in the end.
func (u *user) take(ctx context.Context, lock locks.Locker, how int) *locks.Lease {
	switch how {
	case toTryToRead, toTryToWrite:
		return u.try(ctx, lock)
	case toReadOrGiveUp, toWriteOrGiveUp:
		limited, cancel := context.WithTimeout(ctx, time.Duration(u.random.Int64N(int64(3*time.Minute))))
		defer cancel()
		lease, _ := lock.Acquire(limited)
		return lease
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Hour)
	defer cancel()
	lease, err := lock.Acquire(patience)
	if err != nil {
		u.t.Error("waited for ever: ", err)
	}
	return lease
}

// try tries again and again, for some minutes.
func (u *user) try(ctx context.Context, lock locks.Locker) *locks.Lease {
	for range 50 {
		if lease, err := lock.TryAcquire(ctx); err == nil {
			return lease
		}
		time.Sleep(time.Duration(u.random.Int64N(int64(10 * time.Second))))
	}
	return nil
}
