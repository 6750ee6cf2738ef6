package scenarios

import (
	"context"
	"errors"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
)

// jobs are short, and their lock stays for a while.
type jobs struct {
	world *explore.World
	stays time.Duration

	mu  sync.Mutex
	all []*job // in the order of their grants
}

// job is one that has the lock, from its grant until its lock need not stay.
type job struct {
	actor   *explore.Actor
	node    string
	session int64
	until   time.Time
	isOver  bool // the lock need not stay: it is lost, or somebody has asked for it

	isAsked bool // somebody has asked for the lock, and that is done
}

func newJobs(w *explore.World, stays time.Duration) *jobs {
	w.Node("/lock", "")
	s := &jobs{world: w, stays: stays}
	w.Always(s.check)
	w.AtEnd(nothingBelow("/lock"))
	return s
}

func (s *jobs) lock(a *explore.Actor) *locks.InterProcessMutex {
	return locks.NewInterProcessMutex(a.Client(), "/lock", locks.WithReleasePolicy(locks.ReleasePolicy{
		MinimumHold: s.stays,
	}))
}

// mustStay reports whether nobody else may have the lock of a job yet: its session
// lives, as far as its client can know, and nobody has asked for the lock.
func (j *job) mustStay() bool {
	j.isOver = j.isOver || !time.Now().Before(j.until) || j.actor.Closed() ||
		j.actor.Client().SessionID() != j.session || j.actor.HasExpired(j.session)
	return !j.isOver
}

// check looks whether the nodes of all locks that must stay are there.
func (s *jobs) check(tree explore.Tree) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.all {
		if _, there := tree[j.node]; !there && j.mustStay() {
			return errors.New("the lock of " + j.actor.Name() + " does not stay: " + path.Base(j.node))
		}
	}
	return nil
}

// granted notes that an actor has the lock, which nobody else may have.
func (s *jobs) granted(a *explore.Actor, lease *locks.Lease) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.all {
		if j.mustStay() && lease.Context().Err() == nil {
			s.world.Fail("%s has the lock, which %s has released, and which must stay", a.Name(), j.actor.Name())
		}
	}
	j := &job{
		actor: a, node: lease.Path(), session: a.Client().SessionID(),
		until: time.Now().Add(s.stays), isOver: lease.Context().Err() != nil,
	}
	s.all = append(s.all, j)
	return j
}

// run is one job, if nobody else has the lock, or as soon as that is so.
func (s *jobs) run(a *explore.Actor, acquire acquiring) {
	lease, _ := try(s.world, a, "acquire", acquire)
	if lease == nil {
		return
	}
	j := s.granted(a, lease)
	pass(lease.Context(), 100*time.Millisecond)
	checkLoss(s.world, a, lease, framework.ErrSuspended)
	if lease.Context().Err() != nil { // a lock that is lost need not stay
		s.end(j)
	}
	give(s.world, a, lease)
}

// end notes that the lock of a job need not stay, if it still must.
func (s *jobs) end(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.isOver = true
}

// rest outlasts the locks, and the session of a client that was closed.
func (s *jobs) rest() { time.Sleep(s.stays + 10*time.Second) }

// worker runs jobs by tries, a little later than the others.
func (s *jobs) worker(late time.Duration) func(a *explore.Actor) {
	return func(a *explore.Actor) {
		time.Sleep(late)
		for range 2 {
			s.run(a, s.lock(a).TryAcquire)
			s.rest()
		}
	}
}

func shortJobs(own trouble, opts ...framework.Option) explore.Scenario {
	return startsWith(own, func(w *explore.World) {
		w.ClientOptions(opts...)
		s := newJobs(w, 2*time.Second)
		w.Actor("A", s.worker(0))
		w.Actor("B", s.worker(300*time.Millisecond))
	})
}

// interruptedJob is one after which its client is in trouble.
func interruptedJob(own trouble, opts ...framework.Option) explore.Scenario {
	return func(w *explore.World) {
		w.ClientOptions(opts...)
		s := newJobs(w, 2*time.Second)
		w.Actor("A", func(a *explore.Actor) {
			s.run(a, s.lock(a).TryAcquire)
			own(a)
			s.rest()
		})
		w.Actor("B", s.worker(300*time.Millisecond))
	}
}

// Each job keeps the others out, although it is over soon.
func TestMinimumHold(t *testing.T) { explore.Search(t, shortJobs(none), quick()) }

// Who has the lock loses its session, or may have lost it, or is only interrupted.
func TestMinimumHoldOfOneInTrouble(t *testing.T) {
	standard := framework.WithErrorPolicy(state.StandardPolicy)
	for name, s := range map[string]explore.Scenario{
		"expired": shortJobs(expired), "given up": shortJobs(givenUp), "cut": shortJobs(cut), "cut, standard policy": shortJobs(cut, standard),
		"cut when it stays": interruptedJob(cut, standard),
	} {
		t.Run(name, func(t *testing.T) { explore.Search(t, s, quick()) })
	}
}

// An operator asks for the lock, which would stay for very long. Somebody who waits
// gets it then. Meanwhile, the client that has it is in trouble.
func TestMinimumHoldEndsForOneThatAsks(t *testing.T) {
	explore.Search(t, asksForALockThatStays(none), quick())
}

func asksForALockThatStays(own trouble, opts ...framework.Option) explore.Scenario {
	return func(w *explore.World) {
		w.ClientOptions(opts...)
		s := newJobs(w, time.Hour)
		over, asked := make(chan struct{}), make(chan struct{})
		w.Actor("A", func(a *explore.Actor) {
			s.run(a, s.lock(a).TryAcquire)
			own(a)
			time.Sleep(9 * time.Second)
			a.Pause("rests")
			time.Sleep(time.Second)
			close(over)
			<-asked
			s.ask(a) // the client of B may be closed
			time.Sleep(10 * time.Second)
		})
		w.Actor("B", func(a *explore.Actor) {
			defer close(asked)
			<-over
			s.ask(a)
			lock := locks.NewInterProcessMutex(a.Client(), "/lock")
			if lease, _ := take(w, a, "acquire", lock.Acquire); lease != nil {
				give(w, a, lease)
			}
		})
	}
}

// ask asks for all locks, until that is done.
func (s *jobs) ask(a *explore.Actor) {
	s.mu.Lock()
	all := slices.Clone(s.all)
	s.mu.Unlock()
	for _, j := range all {
		s.end(j)
		for !j.isAsked && !a.Closed() {
			err := a.Call("revoke", func(ctx context.Context) error { return locks.Revoke(ctx, a.Client(), j.node) })
			j.isAsked = err == nil
		}
	}
}
