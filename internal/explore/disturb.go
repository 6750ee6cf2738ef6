package explore

import (
	"context"
	"slices"
	"time"

	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// Cut breaks the connection of the actor. An actor may call it itself, so that
// it is a part of the natural course, and the search begins with what follows.
// The same goes for the other methods of this file.
func (a *Actor) Cut() {
	a.disturb()
	a.world.handle(a).Cut()
}

// LoseSession cuts the actor off until its session has expired.
func (a *Actor) LoseSession() {
	a.disturb()
	a.host.LoseSessions()
}

// Expire makes the session of the actor expire. The actor hears of that later.
func (a *Actor) Expire() {
	a.disturb()
	if a.world.handle(a).Expire() { // else there is no session, or no leader to end it
		a.noteExpiry()
	}
}

// GiveUpSession cuts the actor off until its client has given its session up. The
// servers still have the session then, and the nodes of it. It does not wait: the
// goroutine that heals the network ends with that, or with the client.
func (a *Actor) GiveUpSession() {
	if a.client.State() == state.Lost {
		return
	}
	a.disturb()
	states := a.client.States(context.Background())
	a.host.Isolate()
	go func() {
		for s := range states {
			if s == state.Lost {
				break
			}
		}
		a.host.Heal()
	}()
}

// ReplaceSession lets the client of the actor have another session when it connects
// for the next time. The servers have the old one until its timeout, and carry out
// what they still get of it.
func (a *Actor) ReplaceSession() {
	a.disturb()
	a.world.inside().ReplaceSession(a.session())
}

// Meets lets the next request of that kind meet that fault in the natural course,
// where it would arrive. So a search with few deviations begins where a reply is
// lost, say.
func (a *Actor) Meets(op zktest.Op, fault zktest.Action) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.meets = append(a.meets, meeting{op, fault})
}

// meeting is a request, and the fault that it meets.
type meeting struct {
	op    zktest.Op
	fault zktest.Action
}

// meet returns the fault that a request meets, and whether there is one.
func (a *Actor) meet(op zktest.Op) (fault zktest.Action, meets bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.meets, func(m meeting) bool { return m.op.Covers(op) })
	if i < 0 {
		return fault, false
	}
	fault = a.meets[i].fault
	a.meets = slices.Delete(a.meets, i, i+1)
	return fault, true
}

// Close closes the client of the actor. It does not wait for that: a goroutine
// does, which ends with framework.Client.Close.
func (a *Actor) Close() {
	a.mu.Lock()
	second := !a.closing.IsZero()
	if !second {
		a.touched, a.closing = true, time.Now()
	}
	a.mu.Unlock()
	if second {
		return
	}
	go func() {
		_ = a.client.Close()
		a.mu.Lock()
		a.closed = time.Now()
		a.mu.Unlock()
		a.world.queue.signal()
	}()
}
