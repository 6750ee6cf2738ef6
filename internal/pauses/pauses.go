// Package pauses makes the pauses of loops that repeat their work: because another client
// undoes it, for example by deleting each node that the loop creates, or because an error
// may be temporary.
package pauses

import (
	"context"
	"time"

	"github.com/gocurator/curator/internal/reason"
)

// Growing are pauses that grow while something keeps happening. Unless Steady is set,
// they start over after a quiet time of twice the longest pause. The zero value cannot
// be used, and the fields must not change after the first Wait. A Growing is for one
// goroutine.
type Growing struct {
	First             time.Duration
	Shortest, Longest time.Duration // bounds of all pauses except the first

	// Steady is for loops that may work for a long time between two pauses, such as a
	// loop that calls a user function.
	Steady bool

	began bool
	next  time.Duration
	last  time.Time // the end of the last pause
}

// Vanished returns the pauses of a loop whose node is deleted repeatedly. There is no
// pause after the first deletion, which may be an operator's.
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

// Contention returns the pauses of a loop that keeps losing against other clients.
// There is no pause after the first loss.
func Contention() Growing {
	return Growing{Shortest: 10 * time.Millisecond, Longest: time.Second, Steady: true}
}

// Refusal returns the pauses of a loop while servers refuse its requests. The pauses
// are long, because only a person can change that.
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

// Reset makes the pauses start over.
func (g *Growing) Reset() { g.began, g.next = true, g.First }

// Sleep waits for d, and returns ctx's error if ctx has ended or ends first.
//
// A pause of no length makes no timer: a timer that fires at once can crash the race
// detector of Go 1.26 in a bubble of testing/synctest, where all timers share its
// context, while another goroutine of the bubble does the same.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		if ctx.Err() != nil {
			return reason.OfContext(ctx)
		}
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return reason.OfContext(ctx)
	}
}
