// Package pauses makes the pauses of loops that begin again: because of what
// others do, such as deleting a node as soon as it is there, or because of
// errors that waiting may cure.
package pauses

import (
	"context"
	"time"

	"github.com/gocurator/curator/internal/reason"
)

// Growing are pauses that grow while something happens again and again. They
// begin anew after a quiet time of twice the longest, unless they are steady. The
// zero value is of no use; the fields do not change once it waits. It is for one
// goroutine.
type Growing struct {
	First             time.Duration
	Shortest, Longest time.Duration // bounds of all pauses but the first

	// Steady is for loops that may work for long between two pauses, such as one
	// that calls a function of the user's.
	Steady bool

	began bool
	next  time.Duration
	last  time.Time // the end of the last pause
}

// Vanished returns the pauses of a loop whose node somebody deletes time and
// again. The first time is an operator's, and costs no pause.
func Vanished() Growing {
	return Growing{Shortest: 100 * time.Millisecond, Longest: 5 * time.Second}
}

// Outage returns the pauses of a loop while there is no connection, or a server
// does not answer.
func Outage() Growing {
	return Growing{First: 100 * time.Millisecond, Shortest: 100 * time.Millisecond, Longest: 5 * time.Second}
}

// Failure returns the pauses of a loop while servers answer with temporary errors.
func Failure() Growing {
	return Growing{First: time.Second, Shortest: time.Second, Longest: 30 * time.Second}
}

// Contention returns the pauses of a loop that others are ahead of, time and
// again. The first time, there is none.
func Contention() Growing {
	return Growing{Shortest: 10 * time.Millisecond, Longest: time.Second, Steady: true}
}

// Refusal returns the pauses of a loop while servers refuse what it asks for. They
// are long, because only a person changes that.
func Refusal() Growing {
	return Growing{First: time.Minute, Shortest: time.Minute, Longest: 10 * time.Minute}
}

// Wait pauses, and returns ctx's error if ctx ends first.
func (g *Growing) Wait(ctx context.Context) error {
	if !g.began || !g.Steady && !g.last.IsZero() && time.Since(g.last) > 2*g.Longest {
		g.Reset()
	}
	now := g.next
	g.next = min(max(2*now, g.Shortest), g.Longest)
	err := Sleep(ctx, now)
	g.last = time.Now()
	return err
}

// Reset has the pauses begin anew.
func (g *Growing) Reset() { g.began, g.next = true, g.First }

// Sleep waits for d, and returns ctx's error if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return reason.OfContext(ctx)
	}
}
