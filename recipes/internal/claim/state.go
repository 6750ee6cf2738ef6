package claim

import (
	"fmt"
	"slices"
)

// State is where a claim is in its life. The package documentation has the
// diagram.
type State int

const (
	// Held means that the nodes are ours, and the claim's context is alive, or
	// has ended just now.
	Held State = iota

	// Lost means that the claim's context has ended for another reason than a
	// release. Shares may still be out, and the nodes may still exist.
	Lost

	// Releasing means that the nodes are about to be handed over or deleted.
	Releasing

	// HandedOver means that the nodes belong to another goroutine's claim.
	HandedOver

	// Kept means that the nodes belong to the next claim of the same leader.
	Kept

	// Released means that the nodes are deleted, or the client is deleting
	// them.
	Released
)

func (s State) String() string {
	names := [...]string{"held", "lost", "releasing", "handed over", "kept", "released"}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("State(%d)", int(s))
	}
	return names[s]
}

// final reports whether no state follows.
func (s State) final() bool { return len(edges[s]) == 0 }

// edges are the states that may follow each state.
var edges = map[State][]State{
	Held:      {Lost, Releasing},
	Lost:      {Kept, Released},
	Releasing: {HandedOver, Released},
}

// become moves the claim to a state, and reports whether it did. It does not if
// there is no edge: another transition was first.
func (c *Claim) become(s State) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.becomeLocked(s)
}

func (c *Claim) becomeLocked(s State) bool {
	if !slices.Contains(edges[c.state], s) {
		return false
	}
	c.state = s
	if s == Releasing {
		c.trace.Releasing()
	}
	if s == Released {
		c.holderStoppedLocked()
	}
	if s.final() {
		c.trace.Gone()
		if c.over != nil {
			close(c.over)
		}
	}
	return true
}

// State returns the claim's state.
func (c *Claim) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// Over returns a channel that is closed when the claim is HandedOver, Kept or
// Released.
func (c *Claim) Over() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over == nil {
		c.over = make(chan struct{})
		if c.state.final() {
			close(c.over)
		}
	}
	return c.over
}
