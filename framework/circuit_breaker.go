package framework

import (
	"context"
	"iter"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/state"
)

// CircuitBreakerStates is States for work that is costly to stop and to start
// again: while the connection comes and goes, it tells little.
//
//   - The first state without a connection is told at once and opens the
//     circuit.
//   - While the circuit is open nothing is told, except the first Lost if the
//     circuit was opened by Suspended.
//   - After each pause of the policy the circuit is checked. If there is a
//     connection, or the policy has no more pauses, the circuit is closed, and
//     the present state is told, unless it is the last that was told.
//
// Each opening starts the policy from its beginning. With a policy that never
// retries, every state is told. A nil policy is a *ConfigError.
//
// The states come late and incomplete: they are not for deciding whether to
// trust a session. See Session.Context for that. This is Curator's
// CircuitBreakingConnectionStateListener.
func (c *Client) CircuitBreakerStates(ctx context.Context, policy retry.Policy) (iter.Seq[state.State], error) {
	if policy == nil {
		return nil, isNil("policy")
	}
	start := c.lastChange()
	return func(yield func(state.State) bool) {
		b := circuitBreaker{policy: policy}
		timer := time.NewTimer(0)
		timer.Stop() // it runs only while the circuit is open
		defer timer.Stop()
		for t := start; ; {
			tell, wait := false, backoff.Stop
			select {
			case <-t.Done(): // a transition comes first: check is about the present state
				t = t.Next()
				tell, wait = b.enter(t.Value.State)
			default:
				select {
				case <-t.Done():
				case <-timer.C:
					tell, wait = b.check()
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
			if tell && !yield(b.told) {
				return
			}
		}
	}, nil
}

// circuitBreaker is the circuit of CircuitBreakerStates, without a clock. The
// methods return whether to tell a state, which is then in told, and how long
// to wait before calling check, or backoff.Stop.
type circuitBreaker struct {
	policy retry.Policy

	told    state.State     // the last state that was told
	cur     state.State     // the last transition, told or not
	pauses  backoff.BackOff // nil while the circuit is closed
	wasLost bool            // Lost has been told since the circuit was opened
}

// enter takes a transition.
func (b *circuitBreaker) enter(s state.State) (tell bool, wait time.Duration) {
	b.cur = s
	switch {
	case b.pauses == nil && s.IsConnected():
		return b.tell(), backoff.Stop
	case b.pauses == nil:
		b.pauses = b.policy()
		b.wasLost = s == state.Lost
		return b.tell(), b.pause()
	case s == state.Lost && !b.wasLost:
		b.wasLost = true
		return b.tell(), backoff.Stop
	default:
		return false, backoff.Stop
	}
}

// check is to be called when the time that enter or check returned has passed.
func (b *circuitBreaker) check() (tell bool, wait time.Duration) {
	if !b.cur.IsConnected() {
		wait = b.pause()
	} else {
		wait, b.pauses = backoff.Stop, nil
	}
	if b.pauses != nil || b.cur == b.told {
		return false, wait
	}
	return b.tell(), wait
}

// pause returns the policy's next pause, and closes the circuit if there is
// none.
func (b *circuitBreaker) pause() time.Duration {
	wait := b.pauses.NextBackOff()
	if wait == backoff.Stop {
		b.pauses = nil
	}
	return wait
}

func (b *circuitBreaker) tell() bool {
	b.told = b.cur
	return true
}
