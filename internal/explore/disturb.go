package explore

import (
	"context"
	"slices"
	"time"

	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// Cut breaks the connection of the actor. An actor may call Cut itself, so that the cut
// is part of the natural course and the search begins after it. The same applies to the
// other methods in this file.
func (a *Actor) Cut() {
	a.disturb()
	a.world.handle(a).Cut()
}

// LoseSession cuts the actor off until its session has expired.
func (a *Actor) LoseSession() {
	a.disturb()
	a.host.LoseSessions()
}

// Expire makes the session of the actor expire. The actor learns of that later.
func (a *Actor) Expire() {
	a.disturb()
	if a.world.handle(a).Expire() { // otherwise there is no session, or no leader to end it
		a.noteExpiry()
	}
}

// GiveUpSession cuts the actor off until its client has given up its session. The
// servers then still have the session and its nodes. GiveUpSession does not wait: a
// goroutine heals the network, and ends after that or with the client.
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

// ReplaceSession gives the client of the actor a new session with its next connection.
// The servers keep the old session until its timeout, and carry out late requests of
// that session.
func (a *Actor) ReplaceSession() {
	a.disturb()
	a.world.inside().ReplaceSession(a.session())
}

// Meets makes a fault of the actor's next request of a kind a part of the natural course. A
// search with few deviations can then begin at a lost reply, for example.
func (a *Actor) Meets(op zktest.Op, fault zktest.Action) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.meets = append(a.meets, meeting{op, fault})
}

// meeting is a kind of request and its fault.
type meeting struct {
	op    zktest.Op
	fault zktest.Action
}

// meet returns the fault for a request, and whether there is one.
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

// Close closes the client of the actor, without waiting: a goroutine calls
// framework.Client.Close.
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
