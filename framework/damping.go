package framework

import (
	"context"
	"iter"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/state"
)

// DampedStates is States for work that is costly to stop and to start again: while the connection comes and goes, it
// tells little. The first state without a connection is told at once and opens the circuit. While it is open nothing is
// told, except the first Lost if it was opened by Suspended. After each pause of the policy the circuit is looked at: if
// there is a connection, or the policy has no more pauses, it is closed, and the present state is told, unless it is the
// last that was told. Each opening starts the policy from its beginning; a policy that never retries damps nothing.
//
// What is told is late and incomplete: it is not for deciding whether to trust a session. See Session.Context for that.
// It is Curator's CircuitBreakingConnectionStateListener. A nil policy is a panic.
func (c *Client) DampedStates(ctx context.Context, policy retry.Policy) iter.Seq[state.State] {
	if policy == nil {
		panic("framework: DampedStates with a nil policy")
	}
	start := c.lastChange()
	return func(yield func(state.State) bool) {
		d := damper{policy: policy}
		timer := time.NewTimer(0)
		timer.Stop() // until the circuit is open
		defer timer.Stop()
		for t := start; ; {
			tell, wait := false, backoff.Stop
			select {
			case <-t.Done(): // before the timer: look is about the present state
				t = t.Next()
				tell, wait = d.enter(t.Value.State)
			default:
				select {
				case <-t.Done():
				case <-timer.C:
					tell, wait = d.look()
				case <-ctx.Done():
				case <-c.ctx.Done():
					return
				}
			}
			if ctx.Err() != nil {
				return
			}
			if wait != backoff.Stop {
				timer.Reset(wait)
			}
			if tell && !yield(d.told) {
				return
			}
		}
	}
}

// damper is the circuit of DampedStates, without a clock. Its methods return whether to tell a state, which is then in
// told, and how long to wait before calling look, or backoff.Stop.
type damper struct {
	policy retry.Policy

	told    state.State     // the last one
	cur     state.State     // the last transition, told or not
	pauses  backoff.BackOff // nil while the circuit is closed
	wasLost bool            // Lost has been told since the circuit was opened
}

// enter takes a transition.
func (d *damper) enter(s state.State) (tell bool, wait time.Duration) {
	d.cur = s
	switch {
	case d.pauses == nil && s.IsConnected():
		return d.tell(), backoff.Stop
	case d.pauses == nil:
		d.pauses = d.policy()
		d.wasLost = s == state.Lost
		return d.tell(), d.pause()
	case s == state.Lost && !d.wasLost:
		d.wasLost = true
		return d.tell(), backoff.Stop
	default:
		return false, backoff.Stop
	}
}

// look is to be called when the time that enter or look returned has passed.
func (d *damper) look() (tell bool, wait time.Duration) {
	if !d.cur.IsConnected() {
		wait = d.pause()
	} else {
		wait, d.pauses = backoff.Stop, nil
	}
	if d.pauses != nil || d.cur == d.told {
		return false, wait
	}
	return d.tell(), wait
}

// pause returns the policy's next pause, and closes the circuit if there is none.
func (d *damper) pause() time.Duration {
	wait := d.pauses.NextBackOff()
	if wait == backoff.Stop {
		d.pauses = nil
	}
	return wait
}

func (d *damper) tell() bool {
	d.told = d.cur
	return true
}
