package explore

import (
	"context"
	"time"

	"github.com/gocurator/curator/state"
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
// servers still have the session then, and the nodes of it.
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

// Close closes the client of the actor, and does not wait for that.
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
