package scenarios

import (
	"fmt"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// queueing has actors who want a mutex one after the other, and work for ten
// seconds each. The first one has a trouble while it waits or works.
func queueing(contenders int, own trouble) explore.Scenario {
	return func(w *explore.World) {
		w.Node("/lock", "")
		inside := w.Section("the lock", 1)
		for i, name := range names(contenders) {
			w.Actor(name, func(a *explore.Actor) {
				time.Sleep(time.Duration(i) * time.Second)
				lock := locks.NewInterProcessMutex(a.Client(), "/lock")
				lease, _ := take(w, a, "acquire", lock.Acquire)
				if lease == nil {
					return
				}
				leave := inside.Enter(a, lease.Context(), lease.FencingToken())
				if i == 0 {
					own(a)
				}
				pass(lease.Context(), 10*time.Second)
				if lease.Context().Err() == nil {
					leave()
				}
				checkLoss(w, a, lease)
				give(w, a, lease)
			})
		}
	}
}

// The holder loses its session, or gives it up, while others wait.
func TestMutexUnderFaultsOfTheHolder(t *testing.T) {
	for _, c := range []struct {
		name string
		own  trouble
	}{{"lost", loss}, {"given up", givenUp}, {"expired", expired}, {"closed", closed}} {
		t.Run(c.name, func(t *testing.T) { explore.Search(t, queueing(2, c.own), quick()) })
	}
}

// What the first contender asks for is carried out, and it does not hear of that,
// or it is carried out late.
func TestMutexWithALostReply(t *testing.T) {
	for _, c := range []struct {
		name string
		own  trouble
	}{
		{"to its create", meets(zktest.OpCreate, zktest.DropReply())},
		{"to its delete", meets(zktest.OpDelete, zktest.DropReply())},
		{"to a late create", late(zktest.OpCreate)},
		{"to a late delete", late(zktest.OpDelete)},
	} {
		t.Run(c.name, func(t *testing.T) { explore.Search(t, startsWith(c.own, queueing(3, none)), quick()) })
	}
}

// A leader that lags does not know of the node that a contender has made.
func TestMutexWhoseLeaderLags(t *testing.T) {
	explore.Search(t, inEnsemble(startsWith(meets(zktest.OpCreate, zktest.DropReply()), queueing(2, none)), time.Second), quick())
}

// An operator deletes the nodes of the holder and of the waiters.
func TestMutexWhoseNodesAreDeleted(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Node("/lock", "")
		all := watchHolders(w)
		for i, name := range names(3) {
			w.Actor(name, func(a *explore.Actor) {
				time.Sleep(time.Duration(i) * time.Second)
				lock := locks.NewInterProcessMutex(a.Client(), "/lock")
				lease, _ := take(w, a, "acquire", lock.Acquire)
				if lease == nil {
					return
				}
				all.add(a, lease)
				pass(lease.Context(), 20*time.Second)
				checkLoss(w, a, lease, locks.ErrNodeDeleted)
				give(w, a, lease)
			})
		}
		w.Actor("O", func(a *explore.Actor) {
			time.Sleep(5 * time.Second)
			deleteBelow(a, "/lock")
		})
	}, quick())
}

// Under the standard policy, an interruption ends a lease. Its holder takes its time
// to stop, and nobody works beside it, as its session lives.
func TestMutexWhoseHolderTakesItsTimeToStop(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Node("/lock", "")
		w.ClientOptions(framework.WithErrorPolicy(state.StandardPolicy))
		var at stopping
		for i, name := range names(2) {
			w.Actor(name, func(a *explore.Actor) {
				time.Sleep(time.Duration(i) * time.Second)
				lease, _ := take(w, a, "acquire", locks.NewInterProcessMutex(a.Client(), "/lock").Acquire)
				if lease == nil {
					return
				}
				session := a.Client().SessionID()
				if o := at.actor; o != nil && o.Client().SessionID() == at.session && !o.Closed() && !o.HasExpired(at.session) && o.Client().State().IsConnected() {
					w.Fail("%s has the lock, and %s has not stopped", a.Name(), o.Name())
				}
				if i == 0 {
					cut(a)
				}
				at = stopping{a, session}
				pass(lease.Context(), 2*time.Second)
				checkLoss(w, a, lease, framework.ErrSuspended)
				time.Sleep(2 * time.Second)
				if at.actor == a {
					at = stopping{}
				}
				give(w, a, lease)
			})
		}
	}, quick())
}

// stopping is one that works, and goes on for a while when it has lost the lock.
type stopping struct {
	actor   *explore.Actor // or nil
	session int64
}

// holders are the holders of a lock whose nodes an operator may delete. Until a holder
// learns of the deletion, there may be another holder.
type holders struct {
	world *explore.World
	all   []*holder
}

type holder struct {
	actor    *explore.Actor
	lease    *locks.Lease
	expiries int       // of the actor's sessions, when it came
	missing  time.Time // since when its node is not there
}

func watchHolders(w *explore.World) *holders {
	h := &holders{world: w}
	w.Always(h.check)
	return h
}

func (h *holders) add(a *explore.Actor, lease *locks.Lease) {
	h.all = append(h.all, &holder{actor: a, lease: lease, expiries: a.Expiries()})
}

func (h *holders) check(tree explore.Tree) error {
	var there []string
	for _, o := range h.all {
		if o.lease.Context().Err() != nil || o.actor.Expiries() != o.expiries {
			continue
		}
		if _, is := tree[o.lease.Path()]; is {
			there = append(there, o.actor.Name())
			continue
		}
		if o.missing.IsZero() {
			o.missing = time.Now()
		}
		// A holder that is cut off is not notified of the deletion. Its lease ends when the
		// client gives the session up, before the session timeout has passed.
		if d := 6 * time.Second; time.Since(o.missing) > d && h.world.Quiet() > d {
			return fmt.Errorf("%s is not told that its node is gone", o.actor.Name())
		}
	}
	if len(there) > 1 {
		return fmt.Errorf("%v have the lock at once", there)
	}
	return nil
}
