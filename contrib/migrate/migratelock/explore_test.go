package migratelock_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/golang-migrate/migrate/v4/database"

	"github.com/gocurator/curator/contrib/migrate/migratelock"
	"github.com/gocurator/curator/internal/explore"
)

// steps is who migrates a database, in every order of events that the search finds.
type steps struct {
	world *explore.World
	base  *base

	mu   sync.Mutex     // protects the following fields
	when string         // the first replica loses its session then
	last *explore.Actor // who has begun the last step
	over map[*explore.Actor]bool
}

// Once another replica has begun a step, the one before it begins none. A step that
// has begun ends, and says so if the lock was lost before that. The first replica
// loses the lock.
func TestNoStepBeginsAfterTheNextReplicasSteps(t *testing.T) {
	for _, when := range []string{"in a step", "between two steps"} {
		t.Run(when, func(t *testing.T) {
			explore.Search(t, func(w *explore.World) {
				s := &steps{world: w, base: newBase(false), when: when, over: map[*explore.Actor]bool{}}
				w.Actor("A", s.migrate)
				w.Actor("B", s.migrate)
			}, explore.Limits{Deviations: 2, Schedules: 60})
		})
	}
}

func (s *steps) migrate(a *explore.Actor) {
	var d database.Driver
	if a.Call("open", func(ctx context.Context) (err error) {
		d, err = migratelock.Open(ctx, a.Client(), path, func() (database.Driver, error) {
			return &driver{base: s.base, done: func(string) {}}, nil
		})
		return err
	}) != nil {
		return
	}
	defer d.Close()
	if d.Lock() != nil {
		return
	}
	defer d.Unlock()
	for version := 1; version <= 2 && s.step(a, d, version); version++ {
		s.lose(a, "between two steps")
	}
}

// lose cuts the first replica off until the next one has the lock.
func (s *steps) lose(a *explore.Actor, when string) {
	s.mu.Lock()
	lose := a.Name() == "A" && s.when == when
	if lose {
		s.when = ""
	}
	s.mu.Unlock()
	if lose {
		a.LoseSession()
		time.Sleep(20 * time.Second)
	}
}

// begin notes that a replica begins a step. It reports whether another one has begun
// one since the replica's last.
func (s *steps) begin(a *explore.Actor) (over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	over = s.over[a]
	if s.last != nil && s.last != a {
		s.over[s.last] = true
	}
	s.last = a
	return over
}

// isOver reports whether another replica has begun a step after this replica's steps.
func (s *steps) isOver(a *explore.Actor) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over[a]
}

func (s *steps) step(a *explore.Actor, d database.Driver, version int) (goesOn bool) {
	if d.SetVersion(version, true) != nil {
		return false
	}
	unwarned := a.HasExpired(a.Client().SessionID()) // it cannot know
	if s.begin(a) && !unwarned && !a.Closed() {
		s.world.Fail("%s begins a step behind those of the next one", a.Name())
	}
	a.Pause("migrates")
	s.lose(a, "in a step")
	var lost *migratelock.LostError
	err := d.SetVersion(version, false)
	if err != nil && (!errors.As(err, &lost) || !lost.Begun) {
		s.world.Fail("%s has not ended its step: %v", a.Name(), err)
	}
	if err == nil && s.isOver(a) && !unwarned && !a.HasExpired(a.Client().SessionID()) {
		s.world.Fail("%s does not hear that it has lost the lock", a.Name())
	}
	return err == nil
}
